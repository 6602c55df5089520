"""What the model is told about each session: when it is, who calls, and what was sent for it."""

import json
import os
from datetime import datetime
from typing import Any
from weakref import WeakValueDictionary
from zoneinfo import ZoneInfo

from pipecat.runner.types import RunnerArguments, WebSocketRunnerArguments

from vbot.calls import CARRIERS

MAX_TEXT = 500  # characters of a value

# The arguments of sessions that create_transport knows as calls over Daily, by id(). Any page may
# send a body that looks like that of a call.
over_daily: WeakValueDictionary[int, RunnerArguments] = WeakValueDictionary()


def now() -> datetime:
    """Return the time in TIME_ZONE, or in the machine's time zone if that is not set.

    Tools that ask here what time it is can be tested at any time: see vbot/testing/clock.py.
    """
    zone = os.getenv("TIME_ZONE")
    return datetime.now(ZoneInfo(zone)) if zone else datetime.now().astimezone()


def facts_about(runner_args: RunnerArguments, *names: str) -> str:
    """Return sentences about a session: date, time and zone, and the numbers of a call.

    Args:
        names: Values to add from the request for the session, such as "customer". Anybody can
            send values to a public bot, so only those named here are used.
    """
    time = now()
    zone = os.getenv("TIME_ZONE", time.tzname())
    told = [f"It is {time:%A}, {time.day} {time:%B %Y}, {time:%H:%M}, in the time zone {zone}."]
    numbers = numbers_of(runner_args)
    if caller := numbers.get("from"):
        told.append(f"The person calls from the number {text(caller)}.")
    if called := numbers.get("to"):
        told.append(f"The number that was called is {text(called)}.")
    sent = values_of(runner_args)
    told += [f"{name}: {text(sent[name])}." for name in names if name in sent]
    return " ".join(told)


def numbers_of(runner_args: RunnerArguments) -> dict[str, str | None]:
    """Return who calls ("from") and who is called ("to"), if a carrier says so, and not a page."""
    body = as_dict(runner_args.body)
    if (data := runner_args.call_data) and is_streamed(runner_args):
        return {  # Plivo does not send them, so vbot/hosting puts them into the body
            "from": data.from_number or body.get("from_number"),
            "to": data.to_number or body.get("to_number"),
        }
    if not is_over_daily(runner_args):
        return {}
    dialed = as_dict(body.get("dialin_settings"))  # by Daily
    if dialed:
        return {"from": dialed.get("From"), "to": dialed.get("To")}
    return {"from": body.get("caller"), "to": body.get("phone_number")}  # of webhooks.py


def is_streamed(runner_args: RunnerArguments) -> bool:
    """Whether a carrier or Asterisk streams the session, so that it is a call."""
    is_socket = isinstance(runner_args, WebSocketRunnerArguments)
    return is_socket and runner_args.transport_type in (*CARRIERS, "asterisk")


def is_over_daily(runner_args: RunnerArguments) -> bool:
    """Whether the session is a call that Daily took, or that webhooks.py has signed."""
    return over_daily.get(id(runner_args)) is runner_args


def values_of(runner_args: RunnerArguments) -> dict[str, Any]:
    """Return what came with POST /start, with a request for a call, or with the carrier's call."""
    if data := runner_args.call_data:
        return data.body
    body = as_dict(runner_args.body)
    is_signed = "signature" in body and is_over_daily(runner_args)
    return as_dict(body.get("data")) if is_signed else body


def as_dict(value: Any) -> dict[str, Any]:
    if hasattr(value, "model_dump"):
        value = value.model_dump()
    return value if isinstance(value, dict) else {}


def text(value: Any) -> str:
    """Return a value for the model, in quotes, so that it is not taken for an instruction."""
    return json.dumps(value, ensure_ascii=False)[:MAX_TEXT]
