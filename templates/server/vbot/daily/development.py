"""Calls over Daily in the framework's development runner: who may start them."""

import asyncio
import contextlib
import uuid
from collections.abc import Awaitable, Callable, Collection
from typing import Any

from fastapi import FastAPI, Request, Response
from pipecat.runner.types import RunnerArguments

from vbot.daily.calls import Call


def guard(app: FastAPI, transports: Collection[str]) -> None:
    """Let nobody make rooms or calls through the development runner, except webhooks.py.

    Args:
        app: Of the runner.
        transports: The keys of TRANSPORTS in bot.py.
    """

    @app.middleware("http")
    async def refuse(request: Request, call_next: Any) -> Any:
        refusal = await refusal_of(request, transports)
        return refusal or await call_next(request)


async def refusal_of(request: Request, transports: Collection[str]) -> Response | None:
    """Return why a request is refused; None if it is not."""
    path = request.scope["path"]
    starts_calls = "call" in transports
    if set(transports) == {"call"} and path not in ("/call", "/status"):
        return Response("this bot takes only calls from webhooks.py", 404)
    if starts_calls and path == "/daily-dialin-webhook":
        return Response("this bot takes only calls from webhooks.py", 404)
    asked: Any = {}
    with contextlib.suppress(ValueError):  # the runner accepts bodies that are not JSON
        asked = await request.json() if path == "/start" else {}
    if "daily" not in transports:
        room = not isinstance(asked, dict) or asked.get("createDailyRoom")
        if room or asked.get("transport") == "daily" or path == "/daily":
            return Response("this bot makes rooms only for calls", 401)
    elif not starts_calls:
        if not isinstance(asked, dict) or "dialin_settings" in (asked.get("body") or ()):
            return Response("calls are not started here", 401)
    return None


def take_calls(app: FastAPI, bot: Callable[[RunnerArguments], Awaitable[None]]) -> None:
    """Let webhooks.py start the bot at POST /call."""
    sessions: set[asyncio.Future[None]] = set()

    @app.post("/call")
    async def start(body: dict[str, Any]) -> None:
        Call.authentic(body)
        arguments = RunnerArguments(body=body, session_id=str(uuid.uuid4()))
        sessions.add(session := asyncio.ensure_future(bot(arguments)))
        session.add_done_callback(sessions.discard)
