"""A bot that only notes its sessions, and the app that serves it."""

import asyncio
from collections.abc import Iterable
from typing import Any

from fastapi import APIRouter
from pipecat.runner.types import RunnerArguments, WebSocketRunnerArguments
from starlette.testclient import TestClient

from fakes import SENTENCES
from vbot.hosting.app import Hosting, new_app
from vbot.hosting.sessions import Sessions


class Bot:
    """Notes the arguments of each session. It ends when `over` is set."""

    def __init__(self) -> None:
        self.sessions: list[RunnerArguments] = []
        self.over = asyncio.Event()

    async def __call__(self, arguments: RunnerArguments) -> None:
        self.sessions.append(arguments)
        if isinstance(arguments, WebSocketRunnerArguments):
            await arguments.websocket.close()
        else:
            await self.over.wait()


def served(
    *routers: APIRouter,
    transports: Iterable[str] = (),
    starts: dict[str, Any] | None = None,
    capacity: int = 4,
) -> tuple[TestClient, Sessions, Bot]:
    """Return a client of an app, its sessions and its bot."""
    bot = Bot()
    sessions = Sessions(bot, capacity)
    sessions.open()
    hosting = Hosting(sessions, set(transports), starts or {}, SENTENCES)
    return TestClient(new_app(hosting, routers)), sessions, bot
