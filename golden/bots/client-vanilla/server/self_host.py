"""Serves the bot on your own machines.

At most MAX_SESSIONS sessions run at a time, each for MAX_SESSION_SECONDS at most. After SIGTERM no
session starts. The program ends when the running ones have ended, at the latest after
DRAIN_SECONDS. deploy/README.md says how to run it.
"""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read when ONNX Runtime is imported
if os.getenv("LOG_FORMAT") == "json":
    os.environ["LOGURU_SERIALIZE"] = "true"  # read when Loguru is imported

import contextlib
import hmac
import ipaddress
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request
from fastapi.middleware.cors import CORSMiddleware
from pipecat.runner.livekit import generate_session_tokens, livekit_credentials
from pipecat.runner.types import LiveKitRunnerArguments
from pydantic import BaseModel

import bot
import metrics
import runtime
import settings
from sessions import Session, Sessions

MAX_SECONDS = int(os.getenv("MAX_SESSION_SECONDS", "3600"))
sessions = Sessions(
    capacity=int(os.getenv("MAX_SESSIONS", "8")),
    per_minute=int(os.getenv("STARTS_PER_MINUTE", "10")),
)
metrics.count_sessions(sessions)
app = runtime.new_app()
ORIGINS = os.getenv("PIPECAT_ALLOWED_ORIGINS", "").replace(" ", "").split(",")
app.add_middleware(CORSMiddleware, allow_origins=ORIGINS, allow_methods=["*"], allow_headers=["*"])


async def start_livekit(reservation: Session, request: Request) -> dict[str, Any]:
    """The session starts, in a room of its own."""
    url, key, secret = livekit_credentials()
    name = reservation.id.rpartition(".")[2]
    bot_token, token = generate_session_tokens(name, name, key, secret)
    arguments = LiveKitRunnerArguments(
        room_name=name, url=url, token=bot_token, body=reservation.body, session_id=reservation.id
    )
    sessions.start(reservation, bot.bot(arguments))
    return {"url": url, "token": token}


STARTS = {
    "livekit": start_livekit,
}


def may_start(request: Request) -> str:
    """Return the address that asks for a session, or "" for somebody who has START_TOKEN.

    Raises HTTPException 401 without START_TOKEN, if it is set, and 403 for a page that is neither
    of the bot's own origin nor of PIPECAT_ALLOWED_ORIGINS.
    """
    head, token = request.headers, os.getenv("START_TOKEN")
    origin = head.get("origin", "")
    host = origin.partition("://")[2]
    is_own = head.get("sec-fetch-site") == "same-origin" or host == head.get("host")
    if origin and not is_own and origin not in ORIGINS and "*" not in ORIGINS:
        raise HTTPException(403, f"PIPECAT_ALLOWED_ORIGINS does not list {origin!r}")
    if token:
        sent = head.get("authorization", "").encode()
        if not hmac.compare_digest(sent, f"Bearer {token}".encode()):
            raise HTTPException(401, "send START_TOKEN as a bearer token")
        return ""
    added = ",".join(head.getlist("x-forwarded-for")).rpartition(",")[2].strip()  # by the proxy
    address = added or (request.client.host if request.client else "")
    with contextlib.suppress(ValueError):  # of IPv6, a network of 64 bits counts as one
        address = str(ipaddress.IPv6Network((address, 64), strict=False))
    return address


class Start(BaseModel):
    """A request for a session."""

    transport: str = next(iter(STARTS))
    body: Any = {}  # for bot.py


@app.post("/start")
async def start(
    asked: Start, request: Request, address: Annotated[str, Depends(may_start)]
) -> dict[str, Any]:
    """Reserve a session, and say how to join it."""
    if asked.transport not in STARTS:
        raise HTTPException(400, f"this bot does not know the transport {asked.transport!r}")
    reservation = sessions.reserve(MAX_SECONDS, asked.body, address)
    with sessions.held(reservation):
        return {"sessionId": reservation.id} | await STARTS[asked.transport](reservation, request)


if __name__ == "__main__":
    runtime.set_up_logs()
    settings.require(
        [
            *bot.REQUIRED,
        ],
    )
    runtime.serve(app, sessions)
