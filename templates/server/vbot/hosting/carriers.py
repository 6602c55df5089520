"""Telephone calls that carriers stream to the bot.

A carrier asks what to do with a call, or is set up to stream each call to `/ws/PHONE_TOKEN`. The
response first connects the call to the bot. The rest of it applies if the bot takes no call, or
closes the stream before the call is over: FALLBACK_NUMBER, or a sentence.
"""

import base64
import collections
import hmac
import os
import re
import time
from urllib.parse import parse_qsl

from fastapi import APIRouter, HTTPException, Request, Response, WebSocket
from pipecat.runner.types import WebSocketRunnerArguments
from starlette.requests import HTTPConnection

from vbot.calls import CARRIERS, instead_of_the_bot, public_url
from vbot.hosting.app import Hosting, Shared, visitor
from vbot.hosting.sockets import LimitedWebSocket, refuse

router = APIRouter()


def tokens() -> list[str]:
    """Return the tokens that the address of the bot may have. The first is for new calls."""
    return os.getenv("PHONE_TOKEN", "").split(",")


def problems() -> list[str]:
    """Return what is wrong with PHONE_TOKEN, if it is set."""
    given = tokens() if "PHONE_TOKEN" in os.environ else []
    if all(re.fullmatch("[A-Za-z0-9_-]{16,}", token) for token in given):
        return []
    return ["PHONE_TOKEN is part of an address: 16 or more letters, digits, _ and -."]


class Guesses:
    """Limits how often one visitor's address may come with a wrong token.

    An address that has had a right one is not limited: strangers can make carriers ask here, too.
    """

    a_minute = 10
    most = 10_000  # addresses that are remembered

    def __init__(self) -> None:
        self._known: dict[str, None] = {}  # have had a right token; the oldest first
        self._minute, self._wrong = 0, collections.Counter[str]()

    def check(self, address: str, is_right: bool) -> None:
        """Raise HTTPException 403 for a wrong token, and 429 after too many of them."""
        if (minute := int(time.monotonic() // 60)) != self._minute:
            self._minute, self._wrong = minute, collections.Counter()
        if address not in self._known and self._wrong[address] >= self.a_minute:
            raise HTTPException(429, "too many requests with another token")
        if is_right:
            self._known.pop(address, None)
            self._known[address] = None
            if len(self._known) > self.most:
                del self._known[next(iter(self._known))]
            return
        if address in self._wrong or len(self._wrong) < self.most:
            self._wrong[address] += 1
        raise HTTPException(403, "the address has another token")


guesses = Guesses()


def check_token(connection: HTTPConnection, token: str) -> None:
    """Raise HTTPException if the address of the bot has another token, or came with many others."""
    given = token.encode(errors="replace")
    is_right = any([hmac.compare_digest(given, known.encode()) for known in tokens()])
    guesses.check(visitor(connection), is_right)


def check_socket(websocket: WebSocket, token: str, hosting: Hosting) -> None:
    """Raise HTTPException 403 if the socket is not of a carrier of this bot."""
    check_token(websocket, token)
    if "twilio" not in hosting.transports:
        return
    has_others = len(CARRIERS.keys() & hosting.transports) > 1
    if has_others and not websocket.headers.get("x-twilio-signature"):
        return  # only Twilio signs its sockets
    check_twilio(websocket)


def check_twilio(request: Request | WebSocket, form: dict[str, str] | None = None) -> None:
    """Raise HTTPException 403 if Twilio has not signed the request, with this form.

    Without TWILIO_AUTH_TOKEN or the address of the bot, nothing can be checked.
    https://www.twilio.com/docs/usage/security#validating-requests
    """
    address, key = public_url(), os.getenv("TWILIO_AUTH_TOKEN", "")
    if not address or not key:
        return
    if isinstance(request, WebSocket):
        address = address.replace("http", "ws", 1)
    address += request.url.path
    fields = "".join(name + value for name, value in sorted((form or {}).items()))
    may_be = (address + fields, f"{address}/{fields}")  # Twilio may add the slash
    signed = [base64.b64encode(hmac.digest(key.encode(), one.encode(), "sha1")) for one in may_be]
    given = request.headers.get("x-twilio-signature", "").encode()
    if not any(hmac.compare_digest(one, given) for one in signed):
        raise HTTPException(403, f"Twilio did not sign this for {public_url()}")


@router.websocket("/ws/{token}")
@router.websocket("/ws/{token}/{caller}/{called}")
async def take_call(
    websocket: WebSocket, hosting: Shared, token: str, caller: str = "", called: str = ""
) -> None:
    """Serve a telephone call. Only the carrier knows the address."""
    try:
        check_socket(websocket, token, hosting)
        session = hosting.sessions.reserve(is_call=True)
    except HTTPException as e:
        return await refuse(websocket, e)
    socket = LimitedWebSocket(websocket)
    await socket.accept()
    numbers = {"from_number": caller, "to_number": called} if caller else {}
    arguments = WebSocketRunnerArguments(websocket=socket, body=numbers, session_id=session.id)
    running = hosting.sessions.start(session, arguments)
    await running  # the socket closes when this function returns


def answer(hosting: Hosting, stream: str, element: str = "Say") -> Response:
    """Return the XML for a call: the stream to the bot if it has room, and what follows it.

    Args:
        hosting: That the carrier asks.
        stream: The XML that connects the call to the bot.
        element: The XML element with which the carrier says a sentence.
    """
    if not hosting.sessions.has_room():
        refusal = hosting.sessions.refusal(503)
        if os.getenv("POD_IP"):  # then the router asks another pod
            raise refusal
        stream = ""
    return xml_response(stream + instead_of_the_bot(hosting.sentences, element))


def xml_response(xml: str) -> Response:
    return Response(f"<Response>{xml}</Response>", media_type="application/xml")


def stream_url(request: Request, *numbers: str) -> str:
    """Return the address to which a carrier streams a call, with numbers in it if there are any."""
    address = public_url() or f"https://{request.headers['host']}"
    return "/".join([address.replace("http", "ws", 1), "ws", tokens()[0], *numbers])


async def form_of(request: Request) -> dict[str, str]:
    body = (await request.body()).decode(errors="replace")
    return dict(parse_qsl(body, keep_blank_values=True))
