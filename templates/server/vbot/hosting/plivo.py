"""Plivo: what it has to do with a call, and with one that is transferred."""

import os
import re
from xml.sax.saxutils import escape

from fastapi import APIRouter, HTTPException, Request, Response
from plivo.utils import validate_v3_signature

from vbot.calls import dial, public_url
from vbot.hosting.app import Shared
from vbot.hosting.carriers import answer, form_of, stream_url, xml_response

router = APIRouter()


async def signed_form(request: Request) -> dict[str, str]:
    """Return the form of a request. Raises HTTPException 403 if Plivo has not signed it."""
    form = await form_of(request)
    address = public_url() + request.url.path
    if request.url.query:
        address += f"?{request.url.query}"
    nonce = request.headers.get("x-plivo-signature-v3-nonce", "")
    signature = request.headers.get("x-plivo-signature-v3", "")
    token = os.environ["PLIVO_AUTH_TOKEN"]
    if not validate_v3_signature("POST", address, nonce, token, signature, form):
        raise HTTPException(403, "this request is not signed by Plivo")
    return form


@router.post("/plivo")
async def answer_plivo(request: Request, hosting: Shared) -> Response:
    """Tell Plivo what to do with a call."""
    form = await signed_form(request)
    numbers = [re.sub("[^0-9+]", "", form.get(name, "")) for name in ("From", "To")]
    url = escape(stream_url(request, *(numbers if all(numbers) else ())))
    how = 'bidirectional="true" keepCallAlive="true" contentType="audio/x-mulaw;rate=8000"'
    return answer(hosting, f"<Stream {how}>{url}</Stream>", "Speak")


@router.post("/plivo/dial/{number}")
async def transfer(request: Request, number: str, hosting: Shared, caller_id: str = "") -> Response:
    """Tell Plivo to connect a call that the bot transfers to a number."""
    await signed_form(request)
    return xml_response(dial(number, hosting.sentences, caller_id, "Speak"))
