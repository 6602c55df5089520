"""What sessions share: .env is read and checked once, the page is served, they start in turn."""

import argparse
import asyncio
import errno
import gc
import importlib
import json
import os
import re
import signal
import socket
import sys
from pathlib import Path

from dotenv import dotenv_values, load_dotenv
from fastapi import FastAPI
from starlette.responses import FileResponse, PlainTextResponse

STOPPING = asyncio.Event()  # set when the server is told to stop
_turn = asyncio.Lock()


def load() -> None:
    """Read .env into the environment, which it overrides. A blank value counts as not set."""
    load_dotenv(override=True)
    for name in [name for name, value in os.environ.items() if not value.strip()]:
        del os.environ[name]


def require(needs: list[str], serves: str = "", google: bool = False) -> None:
    """Stop the program if .env has no value for something, or a key that cannot be sent.

    A need is A, "A or B", "A xor B" (one alone), "A if B" (set), "A and B for T" (-t, or served).
    """
    load()  # again: the runner has read the blank values
    key = ("_API_KEY", "_ACCESS_KEY", "_SECRET", "_TOKEN")  # errors would show those, even the page
    odd = [n for n, v in dotenv_values().items() if n.endswith(key) and re.search("[^!-~]", str(v))]
    problems = [f"Copy {n} to .env again: no spaces, line breaks or curly quotes." for n in odd]
    if google:
        name = "GOOGLE_CREDENTIALS_JSON"
        try:
            account = importlib.import_module("google.oauth2.service_account").Credentials
            if text := os.getenv(name):
                account.from_service_account_info(json.loads(text))
            elif path := os.getenv(name := "GOOGLE_APPLICATION_CREDENTIALS"):
                account.from_service_account_file(path)
            else:
                importlib.import_module("google.auth").default()  # this machine's login
        except Exception as e:
            problems.append(f"Set {name} in .env, as .env.example says: {e}")
    served, missing = ("", *serves.split(), *sys.argv), dict[str, str]()
    parted = (need.partition(" for ") for need in needs)
    for need in [rule for text, _, of in parted if of in served for rule in text.split(" and ")]:
        name, word, *others = [*need.split(), ""]
        found = any(other in os.environ for other in others)
        if name not in os.environ and found is (word == "if"):
            missing[name] = need
        elif word == "xor" and name in os.environ and found:
            problems.append(f"Set {name} or {others[0]} in .env, not both.")
    if missing:
        problems.append(f"Set {', '.join(missing)} in .env; .env.example says where to get them.")
    if problems:
        sys.exit("\n".join(problems))


def prepare(app: FastAPI) -> None:
    """Serve the page, if there is one, and end the sessions when the server is told to stop."""
    if (page := Path(__file__).with_name("page.html")).exists():
        app.add_route("/", lambda _: FileResponse(page))
    if "DAILY_API_KEY" not in os.environ:
        app.add_route("/daily", lambda _: PlainTextResponse("Set DAILY_API_KEY in .env.", 503))

    def listen() -> None:
        gc.freeze()  # what is loaded by now stays, so that nobody looks for garbage in it
        for number in (signal.SIGINT, signal.SIGTERM):
            stop = signal.getsignal(number)  # the server's
            assert callable(stop)
            signal.signal(number, lambda *args, stop=stop: (STOPPING.set(), stop(*args)))

    app.router.on_startup.append(listen)


class Arguments(argparse.ArgumentParser):
    """Those of the runner. If their port is taken, the program stops before it says "ready"."""

    def parse_args(self, *args, **options):
        chosen = super().parse_args(*args, **options)
        try:
            socket.create_server((chosen.host, chosen.port)).close()
        except OSError as e:
            if e.errno == errno.EADDRINUSE and not chosen.direct:
                sys.exit(f"Port {chosen.port} is taken. Choose another: --port {chosen.port + 1}")
        return chosen


async def in_turn(build, *args):
    """Run it in a thread, for one session at a time: some libraries cannot be loaded in two."""
    async with _turn:
        return await asyncio.to_thread(build, *args)
