"""Answers the carriers that send calls to self_host.py.

A carrier asks what to do with a call, or is set up to stream each call to `/ws/PHONE_TOKEN`. The
answer first connects the call to the bot. The rest of it applies if the bot takes no call, or
closes the stream before the call is over: FALLBACK_NUMBER, or a sentence.
"""

import base64
import hmac
import os
from urllib.parse import parse_qsl
from xml.sax.saxutils import quoteattr

from fastapi import APIRouter, HTTPException, Request, Response, WebSocket
from pipecat.runner.types import WebSocketRunnerArguments

import bot
import runtime
from runtime import max_call_seconds, public_url
from sessions import Sessions
from transfer import instead_of_the_bot

TOKENS = os.getenv("PHONE_TOKEN", "").split(",")  # the first is for new calls
router = APIRouter()


def check_token(token: str) -> None:
    """Raise HTTPException 403 if the address has another token."""
    if not any(hmac.compare_digest(token.encode(), known.encode()) for known in TOKENS):
        raise HTTPException(403, "the address has another token")


def check_twilio(request: Request | WebSocket, form: dict[str, str]) -> None:
    """Raise HTTPException 403 if Twilio has not signed the request.

    Without TWILIO_AUTH_TOKEN or the address of the bot, nothing can be checked.
    https://www.twilio.com/docs/usage/security#validating-requests
    """
    given = request.headers.get("x-twilio-signature", "")
    address, key = public_url(), os.getenv("TWILIO_AUTH_TOKEN", "")
    if not address or not key:
        return
    if isinstance(request, WebSocket):
        address = address.replace("http", "ws", 1)
    address += request.url.path
    fields = "".join(name + form[name] for name in sorted(form))
    may_be = (address + fields, f"{address}/{fields}")  # Twilio may add the slash
    signed = [base64.b64encode(hmac.digest(key.encode(), one.encode(), "sha1")) for one in may_be]
    if not any(hmac.compare_digest(one, given.encode()) for one in signed):
        raise HTTPException(403, f"Twilio did not sign this for {public_url()}")


@router.websocket("/ws/{token}")
@router.websocket("/ws/{token}/{caller}/{called}")
async def take_call(websocket: WebSocket, token: str, caller: str = "", called: str = "") -> None:
    """Serve a telephone call. Only the carrier knows the address."""
    sessions: Sessions = websocket.app.state.sessions
    try:
        check_token(token)
        check_twilio(websocket, {})
        reservation = sessions.reserve(max_call_seconds())
    except HTTPException as e:
        return await runtime.refuse(websocket, e)
    socket = runtime.LimitedWebSocket(websocket)
    await socket.accept()
    numbers = {"from_number": caller, "to_number": called} if caller else {}
    arguments = WebSocketRunnerArguments(websocket=socket, body=numbers, session_id=reservation.id)
    await sessions.start(reservation, bot.bot(arguments))


def answer(request: Request, stream: str, element: str = "Say") -> Response:
    """Return the XML for a call: the stream to the bot if it has room, and what follows it.

    Args:
        request: Of the carrier.
        stream: The XML that connects the call to the bot.
        element: The XML element with which the carrier says a sentence.
    """
    sessions: Sessions = request.app.state.sessions
    if not sessions.has_room():
        sessions.on_refused()
        if os.getenv("POD_IP"):  # then the router asks another pod
            raise HTTPException(503, "no session can start here now")
        stream = ""
    otherwise = instead_of_the_bot(bot.NOBODY_ANSWERS, bot.BUSY, element)
    xml = f"<Response>{stream}{otherwise}</Response>"
    return Response(xml, media_type="application/xml")


def stream_url(request: Request, *numbers: str) -> str:
    """Return the address to which a carrier streams a call, with numbers in it if there are any."""
    address = public_url() or f"https://{request.headers['host']}"
    return "/".join([address.replace("http", "ws", 1), "ws", TOKENS[0], *numbers])


async def form_of(request: Request) -> dict[str, str]:
    body = (await request.body()).decode(errors="replace")
    return dict(parse_qsl(body, keep_blank_values=True))


@router.post("/twilio/{token}")
async def answer_twilio(request: Request, token: str) -> Response:
    """Tell Twilio what to do with a call."""
    check_token(token)
    check_twilio(request, form := await form_of(request))
    numbers = {"from_number": form.get("From", ""), "to_number": form.get("To", "")}
    told = "".join(
        f"<Parameter name={quoteattr(name)} value={quoteattr(number)}/>"
        for name, number in numbers.items()
        if number
    )
    url = quoteattr(stream_url(request))
    return answer(request, f"<Connect><Stream url={url}>{told}</Stream></Connect>")
