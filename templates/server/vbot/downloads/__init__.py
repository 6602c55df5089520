"""Finds the files of models: on this machine first, then at the host that offers them.

Files on this machine are used without asking their host. Missing files are looked for once, at the
start, so that no session waits for a host that does not answer. Each module here does this for the
models of one service.
"""

import contextlib
import errno
import importlib
import json
import os
import queue
import ssl
import sys
import textwrap
import threading
import urllib.request
from collections.abc import Callable, Iterator
from functools import cache
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit

from loguru import logger

# Errors that are not the host's: no space, no permission, a disk that only reads.
OF_THIS_MACHINE = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS, errno.EFBIG)
WAIT = 6.0  # seconds for a host's first answer; a name server that is down takes 5 of them
OPTIONAL_WAIT = 3.0  # for what the bot can do without

# The modules of services, and those that find the files of their models.
FINDERS = {
    "pipecat.services.funasr.stt": "vbot.downloads.funasr",
    "pipecat.services.kokoro.tts": "vbot.downloads.kokoro",
    "pipecat.services.moonshine.stt": "vbot.downloads.moonshine",
    "pipecat.services.piper.tts": "vbot.downloads.piper",
    "pipecat.services.pocket_tts.tts": "vbot.downloads.pocket_tts",
    "pipecat.services.whisper.stt": "vbot.downloads.whisper",
}


def look_here_first() -> None:
    """Have the services that bot.py imports find their models with the modules here.

    The libraries have no setting for this, so each module replaces the function with which its
    library, or the service of Pipecat 1.14, finds a model.
    """
    for service, finder in FINDERS.items():
        if service in sys.modules and find_spec(finder):
            importlib.import_module(finder).look_here_first()


def replace(module: ModuleType, name: str, function: Callable[..., Any]) -> None:
    setattr(module, name, function)


class Missing(Exception):
    """A model is not on this machine, and its host does not answer."""


@cache
def unreachable(origin: str, wait: float = WAIT) -> str:
    """Return why a host cannot be asked, such as "does not answer"; "" if it can be.

    The libraries would wait for minutes, and then for the next of their files.
    """
    if os.getenv("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "TRUE", "YES"):
        return "is not asked, as HF_HUB_OFFLINE is set"
    found = queue.SimpleQueue[str]()
    threading.Thread(target=lambda: found.put(ask(origin)), daemon=True).start()
    try:
        return found.get(timeout=wait)
    except queue.Empty:  # looking a name up has no limit of its own
        return "does not answer"


def ask(origin: str) -> str:
    try:
        request = urllib.request.Request(origin, method="HEAD")
        urllib.request.urlopen(request, timeout=60).close()
    except (OSError, HTTPException) as e:
        logger.debug(f"{origin}: {e!r}")
        # The libraries know more certificates than Python does on some systems.
        answered = isinstance(e, HTTPError) or isinstance(getattr(e, "reason", e), ssl.SSLError)
        return "" if answered else "cannot be reached"
    return ""


def missing(what: str, folder: object, host: str, why: str) -> Missing:
    return Missing(f"{folder} lacks {what}, and {host} {why}.")


class Unfit(OSError):
    """What a host has sent is not the file."""


def not_sent(what: str, folder: object, host: str, error: Exception) -> OSError:
    """Return the error as one line; its whole text is in the log."""
    logger.debug(f"{what}, from {host}: {error!r}")
    short = textwrap.shorten(str(error), 80, placeholder="...")
    return OSError(f"{folder} lacks {what}, and {host} does not send it: {short}")


def fetch(
    folder: Path, urls: dict[str, str], differs: Callable[[Path, str], str] = lambda *_: ""
) -> None:
    """Download those files that are not in the folder, by their names.

    `differs` gets a downloaded file and its name, and returns how it differs from the known file of
    this name; "" if it does not.
    """
    urls = {name: url for name, url in urls.items() if not (folder / name).exists()}
    if not urls:
        return
    address = urlsplit(next(iter(urls.values())))
    host = str(address.hostname)
    if why := unreachable(f"{address.scheme}://{address.netloc}"):
        what, others = next(iter(urls)), len(urls) - 1
        raise missing(f"{what} and {others} more" if others else what, folder, host, why)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise OSError(f"{folder} cannot be created: {e.strerror}") from e
    for name, url in urls.items():
        try:
            download(url, folder / name, host, differs)
        except (OSError, HTTPException) as e:
            if isinstance(e, OSError) and e.errno in OF_THIS_MACHINE:
                raise OSError(f"{folder} cannot take {name}: {e.strerror}") from e
            raise not_sent(name, folder, host, e) from e


def download(url: str, to: Path, host: str, differs: Callable[[Path, str], str]) -> None:
    """Download a file, and go on where a download stopped.

    The framework would take a part of a file for a whole one.
    """
    part = to.with_name(f"{to.name}.part")
    done = max(0, part.stat().st_size - 1) if part.exists() else 0  # ask for one byte at least
    request = urllib.request.Request(url, headers={"Range": f"bytes={done}-"})
    with urllib.request.urlopen(request, timeout=30) as response:
        done = done if response.status == 206 else 0
        length = response.headers["Content-Length"]
        size = done + int(length) if length else None  # a proxy may leave it out
        with part.open("r+b" if done else "wb") as file, progress(to.name, host, size) as show:
            file.seek(done)
            while piece := response.read(1 << 20):
                done += file.write(piece)
                show(done)
    if size is not None and done < size:
        raise OSError("the connection ended; the next start goes on")
    if problem := unfit(part, to.suffix) or differs(part, to.name):
        part.unlink()
        raise Unfit(problem)
    part.replace(to)


@contextlib.contextmanager
def progress(name: str, host: str, size: int | None) -> Iterator[Callable[[int], None]]:
    """Show on one line how much of a file has come, and end the line whatever happens."""
    of = f" of {size / 1e6:.1f}" if size is not None else ""

    def show(done: int) -> None:
        line = f"\r{name}, from {host}: {done / 1e6:.1f}{of} MB"
        print(line, end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        print(file=sys.stderr)


def unfit(file: Path, suffix: str) -> str:
    """Return what is wrong with a downloaded file, by its beginning; "" if nothing is."""
    with file.open("rb") as opened:
        begin = opened.read(512).lstrip().lower()
    if not begin:
        return "it sends an empty file"
    if begin.startswith((b"<!doctype", b"<html", b"<head")):
        return "it sends a page instead; is that of a proxy, or of a login?"
    if suffix == ".json":
        try:
            json.loads(file.read_bytes())
        except ValueError:
            return "what it sends is not JSON"
    return ""
