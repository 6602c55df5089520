"""Runs the bot on your own machine, with the framework's development runner."""

import argparse
import asyncio
import errno
import gc
import os
import signal
import socket
import sys
from pathlib import Path

from fastapi import FastAPI
from pipecat.runner.types import RunnerArguments
from starlette.responses import FileResponse, PlainTextResponse


def prepare(app: FastAPI) -> None:
    """Add the bot's page to the runner, and end the sessions when the program is stopped."""
    if (page := Path(__file__).with_name("page.html")).exists():
        app.add_route("/", lambda _: FileResponse(page))
    if "DAILY_API_KEY" not in os.environ:
        app.add_route("/daily", lambda _: PlainTextResponse("Set DAILY_API_KEY in .env.", 503))
    sessions = set[asyncio.Task[None]]()
    program = sys.modules["__main__"]
    bot = program.bot

    async def cancellable_bot(runner_args: RunnerArguments):
        session = asyncio.create_task(bot(runner_args))
        sessions.add(session)
        try:
            await asyncio.wait({session})
        finally:
            sessions.discard(session)
            session.cancel()
        if not session.cancelled():
            session.result()

    def on_startup() -> None:
        gc.freeze()  # what is loaded by now stays, so that it need not be searched for garbage
        for number in (signal.SIGINT, signal.SIGTERM):
            stop = signal.getsignal(number)  # the server's, which waits for the sessions
            assert callable(stop)

            def end(*args, stop=stop) -> None:  # bound now: the loop goes on
                for session in sessions:
                    session.get_loop().call_soon_threadsafe(session.cancel)
                stop(*args)

            signal.signal(number, end)

    vars(program)["bot"] = cancellable_bot  # where the runner looks for it
    app.router.on_startup.append(on_startup)


class Arguments(argparse.ArgumentParser):
    """The runner's arguments. A port that is taken stops the program before it says "ready"."""

    def parse_args(self, *args, **options):
        chosen = super().parse_args(*args, **options)
        try:
            socket.create_server((chosen.host, chosen.port)).close()
        except OSError as e:
            if e.errno == errno.EADDRINUSE and not chosen.direct:
                sys.exit(f"Port {chosen.port} is taken. Choose another: --port {chosen.port + 1}")
        return chosen
