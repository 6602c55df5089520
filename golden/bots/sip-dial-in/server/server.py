"""Answers calls from Twilio and starts the bot for each.

Run it with `uv run server.py`, while bot.py runs. Twilio announces a call at POST /call. The server
creates a Daily room, starts the bot there, and holds the caller until the bot fetches the call.
"""

import os
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qsl

import aiohttp
import uvicorn
from fastapi import FastAPI, HTTPException, Request, Response
from loguru import logger
from pipecat.runner.daily import DailyRoomConfig, configure
from starlette.requests import ClientDisconnect
from twilio.request_validator import RequestValidator
from twilio.twiml.voice_response import VoiceResponse

import settings
from call import Call

settings.load()

CLOUD_URL = "https://api.pipecat.daily.co/v1/public"
TIMEOUT = aiohttp.ClientTimeout(total=30)
MAX_BODY = 64 * 1024  # bytes of a request
HOLD = 30  # seconds that a caller waits for the bot before the call ends


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Share one HTTP session among all requests."""
    async with aiohttp.ClientSession(timeout=TIMEOUT) as session:
        app.state.session = session
        yield


app = FastAPI(lifespan=lifespan)
taken: deque[str] = deque(maxlen=1000)  # the CallSid of each recent call


async def read(request: Request) -> bytes:
    """Return the body. Anybody can send one, so a long body is refused before it is in memory."""
    body = b""
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY:
                raise HTTPException(413, f"the body is longer than {MAX_BODY} bytes")
    except ClientDisconnect as e:
        raise HTTPException(400, "the body ends early") from e
    return body


async def make_room(session: aiohttp.ClientSession, caller: str) -> DailyRoomConfig:
    """Create a Daily room for one telephone call."""
    try:
        return await configure(session, sip_caller_phone=caller)
    except Exception as e:
        logger.error(f"No Daily room: {e}")
        raise HTTPException(502, "Daily made no room for the call; see the server's log") from e


async def start_bot(session: aiohttp.ClientSession, call: Call) -> None:
    """Start a session of the bot, on Pipecat Cloud or in bot.py on this machine."""
    headers = {}
    body = {"createDailyRoom": False, "body": call.model_dump()}
    if agent := os.getenv("PIPECAT_AGENT_NAME"):
        url = f"{CLOUD_URL}/{agent}/start"
        headers["Authorization"] = f"Bearer {os.environ['PIPECAT_API_KEY']}"
    else:
        url = f"{os.getenv('BOT_URL', 'http://localhost:7860')}/start"
        body["transport"] = "daily"
    try:
        async with session.post(url, headers=headers, json=body) as answer:
            if answer.status >= 400:
                raise RuntimeError(f"{answer.status} {await answer.text()!r}")
    except (aiohttp.ClientError, TimeoutError, RuntimeError) as e:
        logger.error(f"{url} did not start the bot: {e}")
        raise HTTPException(502, "the bot did not start; see the server's log") from e


async def connect(session: aiohttp.ClientSession, call_sid: str, caller: str) -> None:
    """Create a room for the call and start the bot in it."""
    room = await make_room(session, caller)
    if not room.sip_endpoint:
        raise HTTPException(502, "Daily gave the room no SIP address")
    await start_bot(
        session,
        Call(
            room_url=room.room_url,
            token=room.token,
            sip_uri=room.sip_endpoint,
            call_sid=call_sid,
            caller=caller,
        ),
    )


@app.post("/call")
async def take_call(request: Request) -> Response:
    """Answer Twilio's webhook for an incoming call."""
    body = (await read(request)).decode(errors="replace")
    form = dict(parse_qsl(body, keep_blank_values=True))
    url = str(request.url)
    if public := os.getenv("PUBLIC_URL"):
        url = public.rstrip("/") + request.url.path
        if request.url.query:
            url += f"?{request.url.query}"
    validator = RequestValidator(os.environ["TWILIO_AUTH_TOKEN"])
    if not validator.validate(url, form, request.headers.get("X-Twilio-Signature", "")):
        logger.warning(f"Refused a request that Twilio did not sign for {url!r}")
        raise HTTPException(403, "this request is not signed by Twilio")
    if not (call_sid := form.get("CallSid")):
        raise HTTPException(400, "CallSid is missing")

    if call_sid not in taken:  # anyone who saw a request can send it again
        taken.append(call_sid)
        try:
            await connect(request.app.state.session, call_sid, form.get("From", "unknown"))
        except Exception:
            taken.remove(call_sid)
            raise
    # The caller hears this until the bot fetches the call from Twilio.
    waiting = VoiceResponse()
    waiting.say("One moment, please.")
    waiting.pause(length=HOLD)
    return Response(str(waiting), media_type="application/xml")


@app.get("/health")
async def health() -> dict[str, str]:
    """Report that the server is up."""
    return {"status": "ok"}


if __name__ == "__main__":
    settings.require(
        [
            "DAILY_API_KEY",
            "TWILIO_ACCOUNT_SID",
            "TWILIO_AUTH_TOKEN",
            "PIPECAT_API_KEY if PIPECAT_AGENT_NAME",
        ]
    )
    uvicorn.run(app, host=os.getenv("HOST", "127.0.0.1"), port=int(os.getenv("PORT", "8080")))
