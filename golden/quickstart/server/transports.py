"""Creates the transport of a session, or says which transports the bot has."""

from collections.abc import Callable
from typing import Any

from pipecat.runner import types, utils
from pipecat.transports.base_transport import BaseTransport

# The keys of transport_params for the classes of a session's arguments.
ENTRIES = {
    types.DailyRunnerArguments: "daily",
    types.LiveKitRunnerArguments: "livekit",
    types.SmallWebRTCRunnerArguments: "webrtc",
}


async def create_transport(
    runner_args: types.RunnerArguments, transport_params: dict[str, Callable[[], Any]]
) -> BaseTransport:
    """Create the transport of a session from its entry in transport_params."""
    try:
        return await utils.create_transport(runner_args, transport_params)
    except ValueError as e:
        entry = entry_for(runner_args)
        if entry in transport_params:
            raise
        came = f"over {entry}" if entry else f"with {type(runner_args).__name__}"
        raise ValueError(
            f"This bot serves sessions over {', '.join(transport_params)}; this one came {came}. "
            "Use one of these, or add an entry to transport_params in bot.py."
        ) from e


def entry_for(runner_args: types.RunnerArguments) -> str | None:
    """Return the key of transport_params that a session needs, or None if there is none."""
    if isinstance(runner_args, types.WebSocketRunnerArguments):
        return runner_args.transport_type  # detected by the framework
    return next((ENTRIES[kind] for kind in ENTRIES if isinstance(runner_args, kind)), None)
