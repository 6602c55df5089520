"""Calls that Daily announces: POST /daily-dialin-webhook."""

import asyncio
import base64
import hmac
import json
import os
import time

import aiohttp
from fastapi import APIRouter, HTTPException, Request
from pipecat.runner.types import DailyDialinRequest, DailyRunnerArguments, DialinSettings

from vbot import daily
from vbot.hosting.app import Shared
from vbot.hosting.sessions import START_TIMEOUT

router = APIRouter()


def is_signed(request: Request, body: bytes) -> bool:
    """Whether Daily signed a request within the last minutes."""
    secret = base64.b64decode(os.environ["DAILY_HMAC_SECRET"])
    at = request.headers.get("x-pinless-timestamp", "")
    signature = request.headers.get("x-pinless-signature", "")
    expected = base64.b64encode(hmac.digest(secret, f"{at}.".encode() + body, "sha256"))
    # Daily has been seen to send the time in seconds and in milliseconds.
    is_fresh = at.isdecimal() and abs(time.time() - int(at[:10])) < 300
    return hmac.compare_digest(expected, signature.encode()) and is_fresh


@router.post("/daily-dialin-webhook")
async def take_call(request: Request, hosting: Shared) -> dict[str, str]:
    """Start a session for a call."""
    body = await request.body()
    if not is_signed(request, body):
        if b'"test"' in body.lower() and len(body) < 100:  # Daily's test of a new webhook
            return {"status": "OK"}
        raise HTTPException(403, "this request is not signed by Daily")
    call, sessions = json.loads(body), hosting.sessions
    session = sessions.reserve(is_call=True)
    sessions.find(session.id)  # so that it does not expire while Daily makes the room
    with sessions.held(session):
        async with asyncio.timeout(START_TIMEOUT - 2), aiohttp.ClientSession() as http:
            made = await daily.make_room(http, call["callId"], call["From"])
        if not made:
            raise HTTPException(200, "another bot has this call")  # so nothing is wrong
    room, token = made
    settings = DialinSettings(
        call_id=call["callId"],
        call_domain=call["callDomain"],
        To=call["To"],
        From=call["From"],
        sip_headers=call.get("sipHeaders"),
    )
    dialed = DailyDialinRequest(
        dialin_settings=settings, daily_api_key=os.environ["DAILY_API_KEY"], daily_api_url=daily.API
    )
    arguments = DailyRunnerArguments(
        room_url=room.url, token=token, body=dialed.model_dump(), session_id=session.id
    )
    sessions.start(session, arguments, may_ring=True)
    return {"sessionId": session.id, "dailyRoom": room.url}
