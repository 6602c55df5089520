"""Runs bot.py in a container, and does not cut conversations off.

After SIGTERM no session starts, and the program ends when the running sessions are over. Those
that still run after DRAIN_SECONDS are ended. No more than MAX_SESSIONS run at a time. GET /ready
says whether a session can start: 200, or 503. The options are those of bot.py:

    python self_host.py --host 0.0.0.0
"""

import asyncio
import contextlib
import os
import signal
from pathlib import Path

from loguru import logger
from pipecat.runner.run import app, main
from pipecat.runner.types import RunnerArguments
from starlette.responses import FileResponse, PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

import bot as project
import settings

MAX_SESSIONS = int(os.getenv("MAX_SESSIONS", "4"))
DRAIN_SECONDS = float(os.getenv("DRAIN_SECONDS", "3540"))

sessions: set[asyncio.Task[None]] = set()
stopping = asyncio.Event()


async def bot(runner_args: RunnerArguments) -> None:
    """Serve one session. The framework's runner calls this instead of the function in bot.py."""
    session = asyncio.create_task(project.bot(runner_args))
    sessions.add(session)
    session.add_done_callback(sessions.discard)
    await session


async def drain() -> None:
    """Take SIGTERM, and pass it on to the server once no session is running."""
    stop_server = signal.getsignal(signal.SIGTERM)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    await stopping.wait()
    logger.info(f"Stopping after the running sessions: {len(sessions)}")
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            while sessions:
                await asyncio.sleep(0.2)
    for session in sessions:
        session.cancel()
    while sessions:
        await asyncio.sleep(0.2)
    signal.signal(signal.SIGTERM, stop_server)
    signal.raise_signal(signal.SIGTERM)


class Door:
    """Refuses sessions while the bot is full or stopping."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":  # as long as the server runs
            drainer = asyncio.create_task(drain())
            await self.app(scope, receive, send)
            drainer.cancel()
        elif scope["path"].startswith(("/status", "/sessions/")):  # running sessions need these
            await self.app(scope, receive, send)
        elif stopping.is_set() or len(sessions) >= MAX_SESSIONS:
            await PlainTextResponse("no session can start", 503)(scope, receive, send)
        else:
            await self.app(scope, receive, send)


app.add_middleware(Door)
app.add_route("/", lambda _: FileResponse(Path(__file__).with_name("page.html")))


@app.get("/ready")
async def ready() -> str:
    """Answer while a session can start."""
    return "a session can start"


if __name__ == "__main__":
    settings.require(project.REQUIRED)
    main()
