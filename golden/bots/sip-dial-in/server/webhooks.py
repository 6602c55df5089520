"""Answers calls from Twilio and starts the bot for each.

Run it with `uv run webhooks.py`, while bot.py runs. Twilio announces a call at POST /call. The
server creates a Daily room, starts the bot there, and holds the caller until the bot fetches the
call.
"""

import asyncio
import os
import re
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qsl

import aiohttp
import uvicorn
from fastapi import FastAPI, HTTPException, Request, Response
from loguru import logger
from pipecat.runner.types import RunnerArguments
from pipecat.transports.daily.utils import (
    DailyRESTHelper,
    DailyRoomObject,
    DailyRoomParams,
    DailyRoomProperties,
    DailyRoomSipParams,
)
from starlette.requests import ClientDisconnect
from twilio.request_validator import RequestValidator

import settings
from call import Call, end_call
from settings import Needs
from transfer import instead_of_the_bot

settings.load()

CLOUD_URL = "https://api.pipecat.daily.co/v1/public"
TIMEOUT = aiohttp.ClientTimeout(total=30)
MAX_BODY = 64 * 1024  # bytes of a request
HOLD = 30  # seconds that a caller waits for the bot


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Share one HTTP session among all requests."""
    async with aiohttp.ClientSession(timeout=TIMEOUT) as session:
        app.state.session = session
        yield


app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)


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


async def make_room(
    session: aiohttp.ClientSession, call_id: str, caller: str
) -> tuple[DailyRoomObject, str] | None:
    """Create the Daily room of a call, and a token for it. Return None if the call has a room.

    The room is named after the call, so Daily makes only one, whoever asks and how often.
    """
    api = DailyRESTHelper(daily_api_key=os.environ["DAILY_API_KEY"], aiohttp_session=session)
    seconds, sip = 4 * 3600, DailyRoomSipParams(display_name=caller)  # until it is gone
    properties = DailyRoomProperties(
        exp=time.time() + seconds, eject_at_room_exp=True, sip=sip, start_video_off=True
    )
    try:
        room = await api.create_room(DailyRoomParams(name=f"call-{call_id}", properties=properties))
    except Exception as e:
        if "already exists" in str(e):
            return None
        raise
    try:
        return room, await api.get_token(room.url, seconds)
    except BaseException:
        await api.delete_room_by_url(room.url)  # so that the call can be taken again
        raise


async def start_bot(session: aiohttp.ClientSession, call: Call) -> None:
    """Start a session of the bot, on Pipecat Cloud or wherever BOT_URL says."""
    headers, body = {}, call.signed()
    if agent := os.getenv("PIPECAT_AGENT_NAME"):
        url = f"{CLOUD_URL}/{agent}/start"
        headers["Authorization"] = f"Bearer {os.environ['PIPECAT_API_KEY']}"
        body = {"createDailyRoom": False, "body": body}
    else:
        url = f"{os.getenv('BOT_URL', 'http://localhost:7860')}/call"
    try:
        async with session.post(url, headers=headers, json=body) as answer:
            if answer.status >= 400:
                raise RuntimeError(f"{answer.status} {await answer.text()!r}")
    except (aiohttp.ClientError, TimeoutError, RuntimeError) as e:
        logger.error(f"{url} did not start the bot: {e}")
        if not isinstance(e, TimeoutError):  # after which it may start
            await end_call(call)
        raise HTTPException(502, "the bot did not start; see the server's log") from e


async def connect(session: aiohttp.ClientSession, call_sid: str, caller: str) -> None:
    """Create a room for the call and start the bot in it, unless that has been done."""
    try:
        made = await make_room(session, call_sid, caller)
    except Exception as e:
        logger.error(f"No Daily room: {e}")
        raise HTTPException(502, "Daily made no room for the call; see the server's log") from e
    if not made:
        return
    room, token = made
    if not (endpoint := room.config.sip_endpoint):
        raise HTTPException(502, "Daily gave the room no SIP address")
    call = Call(room_url=room.url, token=token, sip_uri=endpoint, call_sid=call_sid, caller=caller)
    await start_bot(session, call)


@app.post("/call")
async def take_call(request: Request) -> Response:
    """Answer Twilio's webhook for an incoming call."""
    body = (await read(request)).decode(errors="replace")
    form = dict(parse_qsl(body, keep_blank_values=True))
    url = str(request.url)
    domain = os.getenv("DOMAIN")
    if public := os.getenv("PUBLIC_URL", f"https://{domain}" if domain else ""):
        url = public.rstrip("/") + request.url.path
        if request.url.query:
            url += f"?{request.url.query}"
    validator = RequestValidator(os.environ["TWILIO_AUTH_TOKEN"])
    if not validator.validate(url, form, request.headers.get("X-Twilio-Signature", "")):
        logger.warning(f"Refused a request that Twilio did not sign for {url!r}")
        raise HTTPException(403, "this request is not signed by Twilio")
    if not re.fullmatch("CA[0-9a-f]{32}", call_sid := form.get("CallSid", "")):
        raise HTTPException(400, "CallSid is missing")
    # Imported here, because bot.py imports this module.
    from bot import BUSY, NOBODY_ANSWERS

    otherwise = instead_of_the_bot(NOBODY_ANSWERS, BUSY)
    try:
        await connect(request.app.state.session, call_sid, form.get("From", "unknown"))
        # The caller hears this until the bot fetches the call from Twilio.
        waiting = f'<Pause length="{HOLD}"/>'
    except HTTPException:  # which is in the log
        waiting = ""
    xml = f"<Response>{waiting}{otherwise}</Response>"
    return Response(xml, media_type="application/xml")


def take_calls(bot_app: FastAPI, bot: Callable[[RunnerArguments], Awaitable[None]]) -> None:
    """Let webhooks.py start the bot at POST /call."""
    sessions: set[asyncio.Future[None]] = set()

    @bot_app.post("/call")
    async def start(body: dict[str, Any]) -> None:
        Call.authentic(body)
        arguments = RunnerArguments(body=body, session_id=str(uuid.uuid4()))
        sessions.add(session := asyncio.ensure_future(bot(arguments)))
        session.add_done_callback(sessions.discard)


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
            Needs("PIPECAT_API_KEY", if_set="PIPECAT_AGENT_NAME"),
        ]
    )
    uvicorn.run(app, host=os.getenv("HOST", "127.0.0.1"), port=int(os.getenv("PORT", "8080")))
