"""What the model is told about each session: when it is, who calls, and what was sent for it."""

import json
import os
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from pipecat.runner.types import RunnerArguments

MAX_TEXT = 500  # characters of a value


def now() -> datetime:
    """Return the time in TIME_ZONE, or in the machine's time zone if that is not set."""
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
    """Return who calls ("from") and who is called ("to"), if the carrier says so."""
    body = as_dict(runner_args.body)
    if data := runner_args.call_data:
        return {  # Plivo does not send them, so vbot/hosting puts them into the body
            "from": data.from_number or body.get("from_number"),
            "to": data.to_number or body.get("to_number"),
        }
    dialed = as_dict(body.get("dialin_settings"))  # by Daily
    if dialed:
        return {"from": dialed.get("From"), "to": dialed.get("To")}
    if "signature" in body:  # of webhooks.py
        return {"from": body.get("caller"), "to": body.get("phone_number")}
    return {}


def values_of(runner_args: RunnerArguments) -> dict[str, Any]:
    """Return what came with POST /start, with a request for a call, or with the carrier's call."""
    if data := runner_args.call_data:
        return data.body
    body = as_dict(runner_args.body)
    return as_dict(body.get("data")) if "signature" in body else body


def as_dict(value: Any) -> dict[str, Any]:
    if hasattr(value, "model_dump"):
        value = value.model_dump()
    return value if isinstance(value, dict) else {}


def text(value: Any) -> str:
    """Return a value for the model, in quotes, so that it is not taken for an instruction."""
    return json.dumps(value, ensure_ascii=False)[:MAX_TEXT]
