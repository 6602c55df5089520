"""Incoming calls over Twilio: POST /call creates a room, starts the bot there, and answers Twilio.

The caller waits until the bot fetches the call from Twilio.
"""

import os
import re
from urllib.parse import parse_qsl

import aiohttp
from fastapi import APIRouter, HTTPException, Request, Response
from loguru import logger
from twilio.request_validator import RequestValidator

from vbot import daily
from vbot.calls import instead_of_the_bot, say
from vbot.sentences import Sentences
from vbot.webhooks import no_room, read, start_bot

HOLD = 30  # seconds that a caller waits for the bot


def answering(sentences: Sentences) -> APIRouter:
    """Return the router that answers Twilio, which says these sentences to callers."""
    router = APIRouter()

    @router.post("/call")
    async def take_call(request: Request) -> Response:
        """Answer Twilio's webhook for an incoming call."""
        form = await signed_form(request)
        if not re.fullmatch("CA[0-9a-f]{32}", call_sid := form.get("CallSid", "")):
            raise HTTPException(400, "CallSid is missing")
        try:
            await connect(request.app.state.session, call_sid, form.get("From", "unknown"))
            # The caller hears this until the bot fetches the call.
            wait = say(sentences.please_wait, sentences.language)
            waiting = f'{wait}<Pause length="{HOLD}"/>'
        except HTTPException:  # which is in the log
            waiting = ""
        xml = f"<Response>{waiting}{instead_of_the_bot(sentences)}</Response>"
        return Response(xml, media_type="application/xml")

    return router


async def signed_form(request: Request) -> dict[str, str]:
    """Return the form of a request. Raises HTTPException 403 if Twilio has not signed it."""
    body = (await read(request)).decode(errors="replace")
    form = dict(parse_qsl(body, keep_blank_values=True))
    url = url_of(request)
    validator = RequestValidator(os.environ["TWILIO_AUTH_TOKEN"])
    if not validator.validate(url, form, request.headers.get("X-Twilio-Signature", "")):
        logger.warning(f"Refused a request that Twilio did not sign for {url!r}")
        raise HTTPException(403, "this request is not signed by Twilio")
    return form


def url_of(request: Request) -> str:
    """Return the address that Twilio has sent a request to, which its signature is for."""
    domain = os.getenv("DOMAIN")
    public = os.getenv("PUBLIC_URL", f"https://{domain}" if domain else "")
    if not public:
        return str(request.url)
    query = f"?{request.url.query}" if request.url.query else ""
    return public.rstrip("/") + request.url.path + query


async def connect(session: aiohttp.ClientSession, call_sid: str, caller: str) -> None:
    """Create a room for the call and start the bot in it, unless that has been done."""
    try:
        made = await daily.make_room(session, call_sid, caller)
    except Exception as e:
        raise no_room(e) from e
    if not made:
        return
    room, token = made
    if not (endpoint := room.config.sip_endpoint):
        raise HTTPException(502, "Daily gave the room no SIP address")
    call = daily.TwilioSipDialin(
        room_url=room.url, token=token, sip_uri=endpoint, call_sid=call_sid, caller=caller
    )
    await start_bot(session, call)
