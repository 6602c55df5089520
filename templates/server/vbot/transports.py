"""Creates the transport of a session, or says which transports the bot has."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from pipecat.runner import types, utils
from pipecat.transports.base_transport import BaseTransport

from vbot import facts, records
from vbot.calls import CARRIERS, of_transport
from vbot.presence import present

# TRANSPORTS in bot.py: functions that return parameters, by the framework's words for transports,
# or by "dialin", for calls that Daily takes, or "call", for calls that webhooks.py starts.
Transports = Mapping[str, Callable[[], Any]]

# The words for the classes of a session's arguments.
ENTRIES = {
    types.DailyRunnerArguments: "daily",
    types.EvalRunnerArguments: "eval",
    types.LiveKitRunnerArguments: "livekit",
    types.SmallWebRTCRunnerArguments: "webrtc",
}


async def create_transport(
    runner_args: types.RunnerArguments, transports: Transports
) -> BaseTransport:
    """Create the transport of a session from its entry in TRANSPORTS.

    Raises HTTPException 401 for a call that webhooks.py has not signed.
    """
    transport = await new_transport(runner_args, transports)
    if presence := present.get():
        presence.attach(transport)
    records.begin(runner_args, transport)
    return transport


async def new_transport(
    runner_args: types.RunnerArguments, transports: Transports
) -> BaseTransport:
    """Create the transport, as `create_transport` does."""
    body = runner_args.body
    if "call" in transports and isinstance(body, dict) and "signature" in body:
        transport = signed_call(body, transports)
        facts.over_daily[id(runner_args)] = runner_args
        return transport
    if "dialin" in transports and dialed_in(runner_args):
        return await dialin_call(runner_args, transports)
    if isinstance(runner_args, types.WebSocketRunnerArguments):
        if runner_args.transport_type == "asterisk":
            asterisk: Any = importlib.import_module("vbot.asterisk")  # which such a bot has
            return await asterisk.create_transport(runner_args, transports["asterisk"]())
        is_cloud = runner_args.cli_args is None and not runner_args.transport_type
        if is_cloud and "websocket" in transports and not transports.keys() & CARRIERS.keys():
            # Pipecat Cloud does not say who connects, and the framework would assume a carrier.
            runner_args.transport_type = "websocket"
    try:
        return await utils.create_transport(runner_args, dict(transports))
    except ValueError as e:
        entry = entry_for(runner_args)
        if entry in transports:
            raise
        came = f"over {entry}" if entry else f"with {type(runner_args).__name__}"
        raise ValueError(
            f"This bot serves sessions over {', '.join(transports)}; this one came {came}. "
            "Use one of these, or add an entry to TRANSPORTS in bot.py."
        ) from e


def signed_call(body: dict[str, Any], transports: Transports) -> BaseTransport:
    """Create the transport of a call that webhooks.py has signed."""
    daily: Any = importlib.import_module("vbot.daily")  # which such a bot has
    call = daily.Call.authentic(body)
    transport = call.transport(transports["call"]())
    of_transport[transport] = call
    return transport


async def dialin_call(runner_args: types.RunnerArguments, transports: Transports) -> BaseTransport:
    """Create the transport of a call that Daily took."""
    daily: Any = importlib.import_module("vbot.daily")  # which such a bot has
    transport = await utils.create_transport(runner_args, {"daily": transports["dialin"]})
    of_transport[transport] = daily.DialinCall(transport)
    facts.over_daily[id(runner_args)] = runner_args
    return transport


def dialed_in(runner_args: types.RunnerArguments) -> bool:
    """Whether the session is a call that Daily took."""
    body = runner_args.body
    is_dialin = isinstance(body, types.DailyDialinRequest) or (
        isinstance(body, dict) and "dialin_settings" in body
    )
    return is_dialin and isinstance(runner_args, types.DailyRunnerArguments)


def entry_for(runner_args: types.RunnerArguments) -> str | None:
    """Return the word of TRANSPORTS that a session needs, or None if there is none."""
    if isinstance(runner_args, types.WebSocketRunnerArguments):
        return runner_args.transport_type  # detected by the framework
    return next((ENTRIES[kind] for kind in ENTRIES if isinstance(runner_args, kind)), None)
