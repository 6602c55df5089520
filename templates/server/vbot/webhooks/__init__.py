"""The server behind webhooks.py: it makes a Daily room for each call and starts the bot there."""

import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import aiohttp
import uvicorn
from fastapi import APIRouter, FastAPI, HTTPException, Request
from loguru import logger
from starlette.requests import ClientDisconnect

from vbot import daily, settings

CLOUD_URL = "https://api.pipecat.daily.co/v1/public"
TIMEOUT = aiohttp.ClientTimeout(total=30)
MAX_BODY = 64 * 1024  # bytes of a request


def serve(router: APIRouter, required: Iterable[settings.Requirement]) -> None:
    """Serve at HOST and PORT.

    Args:
        router: Takes the requests for calls.
        required: What must be right before the server starts.
    """
    settings.require(required)
    host, port = os.getenv("HOST", "127.0.0.1"), int(os.getenv("PORT", "8080"))
    uvicorn.run(new_app(router), host=host, port=port)


def new_app(router: APIRouter) -> FastAPI:
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=share_session)
    app.include_router(router)
    app.add_api_route("/health", health)
    return app


@asynccontextmanager
async def share_session(app: FastAPI) -> AsyncIterator[None]:
    """Share one HTTP session among all requests."""
    async with aiohttp.ClientSession(timeout=TIMEOUT) as session:
        app.state.session = session
        yield


async def health() -> dict[str, str]:
    """Report that the server is up."""
    return {"status": "ok"}


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


async def start_bot(session: aiohttp.ClientSession, call: daily.Call) -> None:
    """Start a session of the bot, on Pipecat Cloud or wherever BOT_URL says."""
    headers, body = {}, call.signed()
    if agent := os.getenv("PIPECAT_AGENT_NAME"):
        url = f"{CLOUD_URL}/{agent}/start"
        headers["Authorization"] = f"Bearer {os.environ['PIPECAT_API_KEY']}"
        body = {"createDailyRoom": False, "body": body}
    else:
        url = f"{os.getenv('BOT_URL', 'http://localhost:7860')}/call"
    try:
        async with session.post(url, headers=headers, json=body) as response:
            if response.status >= 400:
                raise RuntimeError(f"{response.status} {await response.text()!r}")
    except (aiohttp.ClientError, TimeoutError, RuntimeError) as e:
        logger.error(f"{url} did not start the bot: {e}")
        if not isinstance(e, TimeoutError):  # after which it may start
            await daily.delete_room(call.room_url, os.environ["DAILY_API_KEY"])
        raise HTTPException(502, "the bot did not start; see the server's log") from e


def no_room(cause: Exception) -> HTTPException:
    """Log why Daily made no room, and return the error for whoever wanted a call."""
    logger.error(f"No Daily room: {cause}")
    return HTTPException(502, "Daily made no room for the call; see the server's log")
