"""POST /start: reserves a session for a page, and says how to join it."""

import contextlib
import hmac
import ipaddress
import os
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request
from pydantic import BaseModel

from vbot.hosting.app import Shared, allowed_origins

# What is in the body of a session that is a call, by the transport of calls.
CALLS = {"call": "signature", "dialin": "dialin_settings"}

router = APIRouter()


class Wanted(BaseModel):
    """A request for a session."""

    transport: str = ""  # "" is the first of those that the bot has
    body: Any = {}  # for bot.py


def address_of(request: Request) -> str:
    """Return the address that asks for a session, or "" for somebody who has START_TOKEN.

    Raises HTTPException 401 without START_TOKEN, if it is set, and 403 for a page that is neither
    of the bot's own origin nor of PIPECAT_ALLOWED_ORIGINS.
    """
    head, token = request.headers, os.getenv("START_TOKEN")
    if not may_start(head.get("origin", ""), head.get("host"), head.get("sec-fetch-site")):
        raise HTTPException(403, f"PIPECAT_ALLOWED_ORIGINS does not list {head['origin']!r}")
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


def may_start(origin: str, host: str | None, site: str | None) -> bool:
    """Whether a page of this origin may start sessions. A client without an origin is no page.

    Behind a proxy that changes the name of the host, the browser says that the origin is the same.
    """
    is_own = site == "same-origin" or origin.partition("://")[2] == host
    allowed = allowed_origins()
    return not origin or is_own or origin in allowed or "*" in allowed


@router.post("/start")
async def start(
    wanted: Wanted, hosting: Shared, address: Annotated[str, Depends(address_of)]
) -> dict[str, Any]:
    """Reserve a session, and say how to join it."""
    transport = wanted.transport or next(iter(hosting.starts))
    if transport not in hosting.starts:
        raise HTTPException(400, f"this bot does not know the transport {transport!r}")
    is_call = [mark for word, mark in CALLS.items() if word in hosting.transports]
    if isinstance(wanted.body, dict) and any(mark in wanted.body for mark in is_call):
        raise HTTPException(401, "calls are not started here")
    session = hosting.sessions.reserve(False, wanted.body, address)
    with hosting.sessions.held(session):
        return {"sessionId": session.id} | await hosting.starts[transport](
            hosting.sessions, session
        )
