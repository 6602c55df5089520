"""Serves the bot on your own machines.

At most MAX_SESSIONS sessions run at a time, each for MAX_SESSION_SECONDS at most. After SIGTERM no
session starts. The program ends when the running ones have ended, at the latest after
DRAIN_SECONDS. deploy/README.md says how to run it.
"""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read when ONNX Runtime is imported
if os.getenv("LOG_FORMAT") == "json":
    os.environ["LOGURU_SERIALIZE"] = "true"  # read when Loguru is imported

import asyncio
import base64
import contextlib
import hmac
import ipaddress
import json
import time
from pathlib import Path
from typing import Annotated, Any

import aiohttp
from fastapi import Depends, HTTPException, Request
from fastapi.middleware.cors import CORSMiddleware
from pipecat.runner.daily import configure
from pipecat.runner.types import DailyRunnerArguments, SmallWebRTCRunnerArguments
from pipecat.transports.smallwebrtc.connection import IceServer, SmallWebRTCConnection
from pipecat.transports.smallwebrtc.request_handler import (
    ConnectionMode,
    SmallWebRTCPatchRequest,
    SmallWebRTCRequest,
    SmallWebRTCRequestHandler,
)
from pydantic import BaseModel, Field
from starlette.responses import FileResponse

import bot
import metrics
import recording
import runtime
import settings
from sessions import START_TIMEOUT, Session, Sessions
from settings import Needs

MAX_SECONDS = int(os.getenv("MAX_SESSION_SECONDS", "3600"))
sessions = Sessions(
    capacity=int(os.getenv("MAX_SESSIONS", "4")),
    per_minute=int(os.getenv("STARTS_PER_MINUTE", "6")),
)
metrics.count_sessions(sessions)
app = runtime.new_app()
ORIGINS = os.getenv("PIPECAT_ALLOWED_ORIGINS", "").replace(" ", "").split(",")
app.add_middleware(CORSMiddleware, allow_origins=ORIGINS, allow_methods=["*"], allow_headers=["*"])


@app.get("/")
async def page() -> FileResponse:
    """Serve the bot's page."""
    return FileResponse(Path(__file__).with_name("page.html"))


peers: dict[str, SmallWebRTCRequestHandler] = {}  # of each session


def ice_servers(session_id: str) -> list[dict[str, Any]]:
    """Return the STUN and TURN servers of a session, and a password for as long as it may last."""
    given = os.getenv("PIPECAT_ICE_SERVERS", "").strip()
    entries = json.loads(given) if given[:1] in ("[", "{") else given.split(",")
    servers = [
        {"urls": entry.strip()} if isinstance(entry, str) else entry
        for entry in (entries if isinstance(entries, list) else [entries])
        if entry
    ]
    if secret := os.getenv("TURN_SECRET"):
        name = f"{int(time.time() + MAX_SECONDS) + 120}:{session_id}"
        password = base64.b64encode(hmac.digest(secret.encode(), name.encode(), "sha1")).decode()
        turn = {"urls": os.environ["TURN_URL"], "username": name, "credential": password}
        servers.append(turn)
    return servers


async def start_webrtc(reservation: Session, request: Request) -> dict[str, Any]:
    """The session starts with the page's offer."""
    return {"iceConfig": {"iceServers": ice_servers(reservation.id)}}


class Offer(BaseModel):
    """A page's description of its connection."""

    sdp: str
    type: str
    pc_id: str | None = None  # of an existing connection
    restart_pc: bool | None = None
    request_data: Any = Field(None, alias="requestData")


@app.post("/sessions/{session_id}/api/offer")
async def answer(session_id: str, offer: Offer) -> dict[str, str] | None:
    """Answer the offer that starts a session, or a later one for its connection."""
    reservation = sessions.find(session_id)
    if reservation and session_id in peers:
        raise HTTPException(409, "the session is being started")
    if reservation:  # with one connection, for the page that asked
        servers = [IceServer(**server) for server in ice_servers(session_id)]
        peers[session_id] = SmallWebRTCRequestHandler(
            servers, connection_mode=ConnectionMode.SINGLE
        )
    handler, started = peers[session_id], []

    async def connect(connection: SmallWebRTCConnection) -> None:
        connection.connection_timeout_secs = START_TIMEOUT
        started.append(connection)

    try:
        answered = await handler.handle_web_request(
            SmallWebRTCRequest(**offer.model_dump()), connect
        )
        if reservation:
            arguments = SmallWebRTCRunnerArguments(
                webrtc_connection=started[0],
                body=offer.request_data or reservation.body,
                session_id=session_id,
            )
            task = sessions.start(reservation, bot.bot(arguments))
            task.add_done_callback(lambda _: peers.pop(session_id, None))
    except BaseException:
        if reservation:
            del peers[session_id]
            await handler.close()
        raise
    return answered


@app.patch("/sessions/{session_id}/api/offer")
async def add_candidates(session_id: str, request: SmallWebRTCPatchRequest) -> dict[str, str]:
    """Take more addresses at which the page can be reached."""
    if session_id not in peers:
        raise HTTPException(404, "there is no such session")
    await peers[session_id].handle_patch_request(request)
    return {"status": "success"}


async def start_daily(reservation: Session, request: Request) -> dict[str, Any]:
    """The session starts, in a room of its own."""
    sessions.find(reservation.id)  # so that it does not expire while Daily makes the room
    async with asyncio.timeout(START_TIMEOUT - 2), aiohttp.ClientSession() as session:
        url, token = await configure(session, room_exp_duration=4)  # hours
    arguments = DailyRunnerArguments(
        room_url=url, token=token, body=reservation.body, session_id=reservation.id
    )
    sessions.start(reservation, bot.bot(arguments))
    return {"dailyRoom": url, "dailyToken": token}


STARTS = {
    "webrtc": start_webrtc,
    "daily": start_daily,
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
            Needs("TURN_URL", if_set="TURN_SECRET"),
        ],
        transports=["daily"],
        problems=recording.problems(),
    )
    recording.delete_old_daily()
    for server in ice_servers("none"):
        IceServer(**server)  # report a mistake now, not when somebody connects
    runtime.serve(app, sessions)
