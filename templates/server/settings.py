"""What sessions share: .env is read and checked once, the page is served, they start in turn."""

import asyncio
import gc
import importlib
import json
import os
import re
import signal
import sys
from pathlib import Path

from dotenv import dotenv_values, load_dotenv
from fastapi import FastAPI
from starlette.responses import FileResponse

STOPPING = asyncio.Event()  # set when the server is told to stop
_turn = asyncio.Lock()


def load() -> None:
    """Read .env into the environment, which it overrides. A blank value counts as not set."""
    load_dotenv(override=True)
    for name in [name for name, value in os.environ.items() if not value.strip()]:
        del os.environ[name]


def require(needs: list[str], google: bool = False) -> None:
    """Stop the program if .env has no value for something, or a key that cannot be sent.

    Each need is "NAME", "NAME or OTHER" (at least one), "NAME if OTHER" (is set), "NAME xor OTHER"
    (exactly one) or "NAME without OTHER" (not both). Google's services need a service account.
    """
    load()
    if problems := [*_unusable(), *(_google() if google else []), *_missing(needs)]:
        sys.exit("\n".join(problems))


def prepare(app: FastAPI) -> None:
    """Serve the page, if there is one, and end the sessions when the server is told to stop."""
    if (page := Path(__file__).with_name("page.html")).exists():
        app.add_route("/", lambda _: FileResponse(page))

    def listen() -> None:
        gc.freeze()  # what is loaded by now stays, so that nobody looks for garbage in it
        for number in (signal.SIGINT, signal.SIGTERM):
            stop = signal.getsignal(number)  # the server's
            assert callable(stop)
            signal.signal(number, lambda *args, stop=stop: (STOPPING.set(), stop(*args)))

    app.router.on_startup.append(listen)


async def in_turn(build, *args):
    """Run it in a thread, for one session at a time: some libraries cannot be loaded in two."""
    async with _turn:
        return await asyncio.to_thread(build, *args)


def _unusable() -> list[str]:
    """Name the keys that no header can carry. Errors would show them, even in the browser."""
    keys = ("_API_KEY", "_ACCESS_KEY", "_SECRET", "_TOKEN")
    values = dotenv_values().items()
    odd = [n for n, v in values if n.endswith(keys) and re.search("[^!-~]", v or "")]
    hint = f"Copy {', '.join(odd)} to .env again: no spaces, line breaks or curly quotes."
    return [hint] if odd else []


def _missing(needs: list[str]) -> list[str]:
    """Name what is not set, and what is set twice over."""
    missing, problems = [], []
    for need in needs:
        name, word, *others = [*need.split(), ""]
        found = any(other in os.environ for other in others)
        wanted = {"if": found, "without": False}.get(word, not found)
        if wanted and name not in os.environ:
            missing.append(name)
        elif word in ("xor", "without") and name in os.environ and found:
            problems.append(f"Set {name} or {others[0]} in .env, not both.")
    names = ", ".join(dict.fromkeys(missing))
    told = [f"Set {names} in .env; .env.example says where to get them."] if missing else []
    return told + problems


def _google() -> list[str]:
    """Say what keeps the credentials for Google from being used."""
    problem = "Set GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_CREDENTIALS_JSON in .env"
    try:
        account = importlib.import_module("google.oauth2.service_account").Credentials
        if text := os.getenv("GOOGLE_CREDENTIALS_JSON"):
            problem = "GOOGLE_CREDENTIALS_JSON is not the key of a service account"
            account.from_service_account_info(json.loads(text))
        elif path := os.getenv("GOOGLE_APPLICATION_CREDENTIALS"):
            problem = "GOOGLE_APPLICATION_CREDENTIALS is not the key file of a service account"
            account.from_service_account_file(path)
        else:
            importlib.import_module("google.auth").default()  # this machine's login
    except Exception as e:
        return [f"{problem}: {e}"]
    return []
