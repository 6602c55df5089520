"""The calls: what Asterisk says of each, and what it does when the bot leaves one."""

import re
from typing import Any
from urllib.parse import parse_qsl

from fastapi import WebSocket
from pipecat.runner.types import CallData, WebSocketRunnerArguments
from starlette.websockets import WebSocketState

from vbot.calls import BREAKS_CONNECTION, AsteriskCall

SUBPROTOCOL = "media"
START_WITHIN = 10  # seconds, in which Asterisk says what it sends
RATES = {"ulaw": 8000, "alaw": 8000, "slin": 8000, "slin16": 16000}  # by format, samples a second


def arguments_of(websocket: WebSocket, session_id: str) -> WebSocketRunnerArguments:
    """Return the arguments of a session with a call that Asterisk connects."""
    return WebSocketRunnerArguments(
        websocket=websocket, transport_type="asterisk", session_id=session_id
    )


def call_data(message: dict[str, Any], query: str) -> CallData:
    """Return what is known of a call.

    Args:
        message: MEDIA_START, as `event_of` returns it.
        query: Of the address, from v(...) in the dial string: from, to, channel, call, and values
            for the model, which become `body`.

    Raises ValueError for a message or a format that the bot does not know.
    """
    if message.get("event") != "MEDIA_START":
        raise ValueError(f"Asterisk sent {str(message)[:100]!r} in place of MEDIA_START")
    if (media := message.get("format")) not in RATES:
        known = ", ".join(f"c({name})" for name in RATES)
        raise ValueError(f"Asterisk sends {media!r}: the dial string needs one of {known}")
    values = dict(parse_qsl(query)) | (message.get("channel_variables") or {})
    fields = {
        "stream_id": message.get("connection_id"),
        "call_id": message.get("channel_id"),
        "from": values.pop("from", None),
        "to": values.pop("to", None),
        "channel": values.pop("channel", ""),
        "is_outgoing": values.pop("call", "") == "out",
        "format": media,
        "sample_rate": RATES[media],
        "body": values,
    }
    return CallData.model_validate(fields)


def event_of(text: str) -> dict[str, Any]:
    """Return a message of Asterisk: "NAME value", or "NAME key:value key:value", as an object.

    A message of JSON has the same keys, and is read by whoever calls this.
    """
    event, _, rest = text.partition(" ")
    named = re.findall(r"(\w+):(\S+)", rest)
    found: dict[str, Any] = {"event": event, **dict(named)}
    if rest and not named:
        found["correlation_id"] = rest
    return found


async def leave_to_dialplan(websocket: WebSocket) -> None:
    """Leave a call, if it has not ended, to the dialplan's next line."""
    if WebSocketState.DISCONNECTED in (websocket.client_state, websocket.application_state):
        return
    await websocket.send_bytes(BREAKS_CONNECTION)
    await websocket.close()


__all__ = ["AsteriskCall", "arguments_of", "call_data", "event_of", "leave_to_dialplan"]
