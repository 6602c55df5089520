"""Runs the bot on your own machine, with the framework's development runner."""

import argparse
import asyncio
import contextlib
import errno
import gc
import importlib
import io
import logging
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable

from fastapi import FastAPI
from pipecat.runner import run as runner
from pipecat.runner.types import RunnerArguments
from starlette.responses import PlainTextResponse

from vbot import log, page
from vbot.presence import attended

Bot = Callable[[RunnerArguments], Awaitable[None]]


def prepare(app: FastAPI, bot: Bot) -> Bot:
    """Add the bot's page to the runner, and end the sessions when the program is stopped.

    It also sets up the log, and lets Ctrl-C end the program without a traceback. Returns the bot
    whose sessions end then.
    """
    if page.PAGE.exists():
        app.add_route("/", lambda _: page.page_response())
    if "DAILY_API_KEY" not in os.environ:
        app.add_route("/daily", lambda _: PlainTextResponse("Set DAILY_API_KEY in .env.", 503))
    sessions = set[asyncio.Future[None]]()

    async def cancellable_bot(runner_args: RunnerArguments) -> None:
        async with attended(runner_args, lambda: session.cancel()):
            session = asyncio.ensure_future(bot(runner_args))
            sessions.add(session)
            try:
                await asyncio.wait({session})
            finally:
                sessions.discard(session)
                session.cancel()
        if not session.cancelled():
            session.result()

    def on_startup() -> None:
        gc.freeze()  # garbage collection skips what is loaded by now
        for number in (signal.SIGINT, signal.SIGTERM):
            stop = signal.getsignal(number)  # the server's, which waits for the sessions
            assert callable(stop)

            def end(*args, stop=stop) -> None:  # bound now: the loop goes on
                for session in sessions:
                    session.get_loop().call_soon_threadsafe(session.cancel)
                stop(*args)

            signal.signal(number, end)

    vars(sys.modules["__main__"])["bot"] = cancellable_bot  # where the runner looks for it
    app.router.on_startup.append(on_startup)
    end_quietly_until_started(app)
    log_plainly(app)
    return cancellable_bot


def end_quietly_until_started(app: FastAPI) -> None:
    """Let Ctrl-C end the program immediately while models load, which may take minutes."""
    is_started = False

    def on_startup() -> None:
        nonlocal is_started
        is_started = True

    def interrupt(*_) -> None:
        if is_started:
            raise KeyboardInterrupt  # as usual
        os.write(2, b"\n")  # a line may say how far a download is
        os._exit(130)  # without waiting for threads that download

    app.router.on_startup.append(on_startup)
    signal.signal(signal.SIGINT, interrupt)


def log_plainly(app: FastAPI) -> None:
    """Log what happens, at the level of -v or LOG_LEVEL, and say "Bot ready!" when it is.

    The runner sets a level itself. It prints "Bot ready!" before it loads its server, with a list
    of transports that this bot does not have. It has no options for that, so two of its functions
    are replaced (checked with Pipecat 1.14).
    """
    level = log_level()
    log.set_up(level)
    runner._print_dev_runner_banner = lambda: log.set_up(level)
    print_details = runner._print_startup_message
    tasks = []  # a task without a reference may be garbage-collected

    def announce_later(args: argparse.Namespace) -> None:
        app.router.on_startup.append(
            lambda: tasks.append(asyncio.create_task(announce(args, print_details)))
        )

    runner._print_startup_message = announce_later
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(ImportError):
        importlib.import_module("pipecat_ai_prebuilt.frontend")  # prints when imported
    if level not in ("DEBUG", "TRACE"):
        for name in ("uvicorn.error", "uvicorn.access"):  # each request
            logging.getLogger(name).addFilter(lambda record: record.levelno >= logging.WARNING)


def log_level() -> str:
    """Return DEBUG for -v, TRACE for -vv, which logs every frame, and otherwise LOG_LEVEL."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("-v", "--verbose", action="count", default=0)
    verbose = parser.parse_known_args()[0].verbose
    if verbose:
        return "DEBUG" if verbose == 1 else "TRACE"
    return os.getenv("LOG_LEVEL", "INFO").upper()


async def announce(
    args: argparse.Namespace, print_details: Callable[[argparse.Namespace], None]
) -> None:
    """Say where the bot is, once it answers there."""
    host = "localhost" if args.host in ("0.0.0.0", "::") else args.host
    while True:
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection(host, args.port)
            writer.close()
            break
        await asyncio.sleep(0.02)
    if args.transport == "asterisk":
        print(f"\nBot ready! Asterisk connects to ws://{host}:{args.port}/asterisk\n")
    elif args.transport:
        print_details(args)  # such as the address for the carrier
    else:
        print(f"\nBot ready! Open http://{host}:{args.port}\n")
    sys.stdout.flush()


class Arguments(argparse.ArgumentParser):
    """The runner's arguments. --help, a mistake or a port that is taken stop the program at once.

    Args:
        prepare: Called once the arguments are right. It may take minutes.
        takes_asterisk: Whether Asterisk may connect calls, which the framework does not know of.
    """

    def __init__(self, prepare: Callable[[], None], takes_asterisk: bool = False):
        super().__init__()
        self._prepare, self._takes_asterisk = prepare, takes_asterisk

    def add_argument(self, *names, **options):
        if "--transport" in names and self._takes_asterisk:
            options["choices"] = [*options["choices"], "asterisk"]
        return super().add_argument(*names, **options)

    def parse_args(self, *args, **options):
        chosen = super().parse_args(*args, **options)
        try:
            socket.create_server((chosen.host, chosen.port)).close()
        except OSError as e:
            if e.errno == errno.EADDRINUSE and not chosen.direct:
                sys.exit(f"Port {chosen.port} is taken. Choose another: --port {chosen.port + 1}")
        self._prepare()
        return chosen
