"""Sessions over SmallWebRTC, and the bot's own page."""

import base64
import hmac
import json
import os
import time
from pathlib import Path
from typing import Any

from fastapi import APIRouter, HTTPException
from pipecat.runner.types import SmallWebRTCRunnerArguments
from pipecat.transports.smallwebrtc.connection import IceServer, SmallWebRTCConnection
from pipecat.transports.smallwebrtc.request_handler import (
    ConnectionMode,
    SmallWebRTCPatchRequest,
    SmallWebRTCRequest,
    SmallWebRTCRequestHandler,
)
from pydantic import BaseModel, Field
from starlette.responses import FileResponse

from vbot.hosting.app import Shared
from vbot.hosting.sessions import START_TIMEOUT, Session, Sessions
from vbot.hosting.time_limit import max_seconds

PAGE = Path(__file__).parents[2] / "page.html"

router = APIRouter()
peers: dict[str, SmallWebRTCRequestHandler] = {}  # of each session


@router.get("/")
async def page() -> FileResponse:
    """Serve the bot's page, if it has one."""
    if not PAGE.exists():
        raise HTTPException(404)
    return FileResponse(PAGE)


def listed_servers() -> list[dict[str, Any]]:
    """Return the STUN and TURN servers in PIPECAT_ICE_SERVERS: URLs, or JSON as a browser takes."""
    given = os.getenv("PIPECAT_ICE_SERVERS", "").strip()
    entries = json.loads(given) if given[:1] in ("[", "{") else given.split(",")
    return [
        {"urls": entry.strip()} if isinstance(entry, str) else entry
        for entry in (entries if isinstance(entries, list) else [entries])
        if entry
    ]


def problems() -> list[str]:
    """Return what is wrong with the addresses, before somebody connects."""
    try:
        for server in listed_servers():
            IceServer(**server)
    except (TypeError, ValueError):
        return ["PIPECAT_ICE_SERVERS in .env must be URLs with commas, or a JSON list of servers."]
    return []


def ice_servers(session_id: str) -> list[dict[str, Any]]:
    """Return the STUN and TURN servers of a session, and a password for as long as it may last."""
    servers = listed_servers()
    if secret := os.getenv("TURN_SECRET"):
        name = f"{int(time.time() + max_seconds(is_call=False)) + 120}:{session_id}"
        password = base64.b64encode(hmac.digest(secret.encode(), name.encode(), "sha1")).decode()
        turn = {"urls": os.environ["TURN_URL"], "username": name, "credential": password}
        servers.append(turn)
    return servers


async def start(sessions: Sessions, session: Session) -> dict[str, Any]:
    """The session starts with the page's offer."""
    return {"iceConfig": {"iceServers": ice_servers(session.id)}}


class Offer(BaseModel):
    """A page's description of its connection."""

    sdp: str
    type: str
    pc_id: str | None = None  # of an existing connection
    restart_pc: bool | None = None
    request_data: Any = Field(None, alias="requestData")


@router.post("/sessions/{session_id}/api/offer")
async def answer(session_id: str, offer: Offer, hosting: Shared) -> dict[str, str] | None:
    """Answer the offer that starts a session, or a later one for its connection."""
    reservation = hosting.sessions.find(session_id)
    if reservation and session_id in peers:
        raise HTTPException(409, "the session is being started")
    if reservation:  # with one connection, for the page that asked
        servers = [IceServer(**server) for server in ice_servers(session_id)]
        peers[session_id] = SmallWebRTCRequestHandler(
            servers, connection_mode=ConnectionMode.SINGLE
        )
    if session_id not in peers:  # it came over another transport
        raise HTTPException(404, "there is no such connection")
    handler = peers[session_id]
    started: list[SmallWebRTCConnection] = []

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
            task = hosting.sessions.start(reservation, arguments)
            task.add_done_callback(lambda _: peers.pop(session_id, None))
    except BaseException:
        if reservation:
            del peers[session_id]
            await handler.close()
        raise
    return answered


@router.patch("/sessions/{session_id}/api/offer")
async def add_candidates(session_id: str, request: SmallWebRTCPatchRequest) -> dict[str, str]:
    """Take more addresses at which the page can be reached."""
    if session_id not in peers:
        raise HTTPException(404, "there is no such session")
    await peers[session_id].handle_patch_request(request)
    return {"status": "success"}
