"""POST /start: reserves a session for a page, and says how to join it."""

import contextlib
import hmac
import ipaddress
import os
import re
import socket
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, HTTPException, Request
from pydantic import BaseModel

from vbot.hosting.app import Shared, visitor
from vbot.page import allowed_origins

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
    return visitor(request)


def may_start(origin: str, host: str | None, site: str | None) -> bool:
    """Whether a page of this origin may start sessions. A client without an origin is no page.

    Behind a proxy that changes the name of the host, the browser says that the origin is the same.
    """
    allowed = allowed_origins()
    if not origin or origin in allowed or "*" in allowed:
        return True
    if site == "same-origin" and origin.startswith("https://"):
        return True  # its certificate shows that the name is the bot's
    is_own = site == "same-origin" or origin.partition("://")[2] == host
    return is_own and is_served(origin)


def is_served(origin: str) -> bool:
    """Whether the bot has the name in this origin of a page.

    Otherwise a stranger could let a name of theirs lead to an address that only the visitor
    reaches, such as 127.0.0.1 (DNS rebinding), and their page would be of the same origin. If
    neither DOMAIN nor BOT_PUBLIC_URL is set, any name is trusted that has a certificate.
    """
    try:
        parts = urlsplit(origin)
        name = (parts.hostname or "").rstrip(".")
    except ValueError:
        return False
    with contextlib.suppress(ValueError):
        return bool(ipaddress.ip_address(name))  # with which no name was asked for
    here = socket.gethostname().lower().partition(".")[0]
    if name in ("localhost", here, f"{here}.local") or name.endswith(".localhost"):
        return True
    names = public_names()
    return name in names if names else parts.scheme == "https"


def public_names() -> set[str]:
    """Return the host names in DOMAIN and BOT_PUBLIC_URL, without ports."""
    given = re.split(r"[,\s]+", f"{os.getenv('DOMAIN', '')} {os.getenv('BOT_PUBLIC_URL', '')}")
    hosts = (address.rpartition("://")[2].partition("/")[0] for address in given)
    return {re.sub(r":\d+$", "", host).lower() for host in hosts if host}


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
