"""Starts outgoing calls.

Run it with `uv run webhooks.py`, while bot.py runs, and request a call:

    curl -X POST http://localhost:8080/dialout -H "Authorization: Bearer $SERVER_API_KEY" \
        -H "Content-Type: application/json" -d '{"phone_number": "+15551234567"}'
"""

import asyncio
import hmac
import os
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

import aiohttp
import uvicorn
from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from loguru import logger
from pipecat.runner.daily import DailyRoomConfig, configure
from pipecat.runner.types import RunnerArguments
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.requests import ClientDisconnect

import settings
from call import Call, PhoneNumber, Values, end_call
from settings import Needs

settings.load()

CLOUD_URL = "https://api.pipecat.daily.co/v1/public"
TIMEOUT = aiohttp.ClientTimeout(total=30)
MAX_BODY = 64 * 1024  # bytes of a request


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


async def make_room(session: aiohttp.ClientSession, called: str) -> DailyRoomConfig:
    """Create the Daily room of a call."""
    try:
        return await configure(session, sip_caller_phone=called, enable_dialout=True)
    except Exception as e:
        logger.error(f"No Daily room: {e}")
        raise HTTPException(502, "Daily made no room for the call; see the server's log") from e


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


class DialoutRequest(BaseModel):
    """The person to call, and values that bot.py may tell the model: see facts there."""

    model_config = ConfigDict(extra="forbid")

    phone_number: PhoneNumber
    data: Values = {}


bearer = HTTPBearer(auto_error=False)


def authorize(
    credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
) -> None:
    """Require SERVER_API_KEY, because calls cost money."""
    key = os.environ["SERVER_API_KEY"].encode()
    if not credentials or not hmac.compare_digest(credentials.credentials.encode(), key):
        raise HTTPException(
            401,
            "send SERVER_API_KEY as a bearer token",
            {"WWW-Authenticate": "Bearer"},
        )


@app.post("/dialout", dependencies=[Depends(authorize)])
async def dial_out(request: Request) -> dict[str, str]:
    """Create a room and start the bot, which calls the person from that room."""
    # FastAPI would read the body of a declared parameter before it asks for the key.
    try:
        wanted = DialoutRequest.model_validate_json(await read(request))
    except ValidationError as e:
        raise HTTPException(422, e.errors(include_url=False, include_input=False)) from e
    session = request.app.state.session
    room = await make_room(session, wanted.phone_number)
    await start_bot(
        session,
        Call(room_url=room.room_url, token=room.token, **wanted.model_dump()),
    )
    return {"status": "started", "room_url": room.room_url}


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
            "SERVER_API_KEY",
            Needs("PIPECAT_API_KEY", if_set="PIPECAT_AGENT_NAME"),
        ]
    )
    uvicorn.run(app, host=os.getenv("HOST", "127.0.0.1"), port=int(os.getenv("PORT", "8080")))
