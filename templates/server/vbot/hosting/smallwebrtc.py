"""Sessions over SmallWebRTC, and the bot's own page."""

import base64
import collections
import hmac
import json
import os
import time
from typing import Any

from aiortc.sdp import SessionDescription
from fastapi import APIRouter, HTTPException
from loguru import logger
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

from vbot import page as vbot_page
from vbot.hosting.app import Shared
from vbot.hosting.sessions import START_TIMEOUT, Session, Sessions
from vbot.hosting.time_limit import max_seconds

MAX_SDP = 65_536  # characters; more than a browser's offer with video has
MAX_BROKEN = 10  # offers and candidates of a session that cannot be read

router = APIRouter()
peers: dict[str, SmallWebRTCRequestHandler] = {}  # of each session
broken = collections.Counter[str]()  # how many came in each session; see MAX_BROKEN


@router.get("/")
async def page() -> FileResponse:
    """Serve the bot's page, if it has one."""
    if not vbot_page.PAGE.exists():
        raise HTTPException(404)
    return vbot_page.page_response()


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


def check(offer: Offer) -> None:
    """Raise an exception if an offer does not describe a connection.

    aiortc answers even an empty one. The session would then wait for the client.
    """
    if offer.type != "offer":
        raise ValueError("it is of another type")
    if len(offer.sdp) > MAX_SDP:
        raise ValueError("it is too long")
    sections = SessionDescription.parse(offer.sdp).media
    if not sections:
        raise ValueError("it describes no media")
    if not all(section.dtls and section.dtls.fingerprints for section in sections):
        raise ValueError("it has no fingerprint")


def unreadable(session_id: str, what: str, e: Exception) -> HTTPException:
    """Log in a line that something could not be read, and return the error for who sent it."""
    broken[session_id] += 1
    logger.warning(f"{what} could not be read: {type(e).__name__}: {e!s:.100}")
    logger.opt(exception=e).debug(f"{what} could not be read")
    return HTTPException(400, f"{what} could not be read")


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
    if broken[session_id] >= MAX_BROKEN:
        raise HTTPException(429, "too much could not be read")
    handler = peers[session_id]
    started: list[SmallWebRTCConnection] = []

    async def connect(connection: SmallWebRTCConnection) -> None:
        connection.connection_timeout_secs = START_TIMEOUT
        started.append(connection)

    try:
        try:
            check(offer)
            request = SmallWebRTCRequest(**offer.model_dump())
            answered = await handler.handle_web_request(request, connect)
        except HTTPException:  # such as of another connection
            broken[session_id] += 1
            raise
        except Exception as e:
            if reservation:
                hosting.sessions.give_back(reservation)
            raise unreadable(session_id, "The offer", e) from None
        if reservation:
            arguments = SmallWebRTCRunnerArguments(
                webrtc_connection=started[0],
                body=offer.request_data or reservation.body,
                session_id=session_id,
            )
            task = hosting.sessions.start(reservation, arguments)
            task.add_done_callback(lambda _: forget(session_id))
    except BaseException:
        if reservation:
            forget(session_id)
            await handler.close()
        raise
    return answered


def forget(session_id: str) -> None:
    """Remove what belongs to the connection of a session."""
    peers.pop(session_id, None)
    broken.pop(session_id, None)


@router.patch("/sessions/{session_id}/api/offer")
async def add_candidates(session_id: str, request: SmallWebRTCPatchRequest) -> dict[str, str]:
    """Take more addresses at which the page can be reached."""
    if session_id not in peers:
        raise HTTPException(404, "there is no such session")
    if broken[session_id] >= MAX_BROKEN:
        raise HTTPException(429, "too much could not be read")
    try:
        await peers[session_id].handle_patch_request(request)
    except HTTPException:
        raise
    except Exception as e:
        raise unreadable(session_id, "A candidate", e) from None
    return {"status": "success"}
