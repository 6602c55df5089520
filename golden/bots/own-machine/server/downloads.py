"""Finds the files of models: on this machine first, then at the host that offers them.

Files on this machine are used without asking their host. Missing files are looked for once, at the
start, so that no session waits for a host that does not answer.
"""

import os
import queue
import ssl
import sys
import textwrap
import threading
import urllib.request
from collections.abc import Callable
from functools import cache
from http.client import HTTPException
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit

import moonshine_voice.download
import pipecat.services.moonshine.stt
import pipecat.services.piper.tts
from loguru import logger
from piper.download_voices import URL_FORMAT

WAIT = 6.0  # seconds for a host's first answer; a name server that is down takes 5 of them


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


def not_sent(what: str, folder: object, host: str, error: Exception) -> OSError:
    """Return the error as one line; its whole text is in the log."""
    logger.debug(f"{what}, from {host}: {error!r}")
    short = textwrap.shorten(str(error), 80, placeholder="...")
    return OSError(f"{folder} lacks {what}, and {host} does not send it: {short}")


def fetch(folder: Path, urls: dict[str, str]) -> None:
    """Download those files that are not in the folder, by their names."""
    urls = {name: url for name, url in urls.items() if not (folder / name).exists()}
    if not urls:
        return
    address = urlsplit(next(iter(urls.values())))
    host = str(address.hostname)
    if why := unreachable(f"{address.scheme}://{address.netloc}"):
        what, others = next(iter(urls)), len(urls) - 1
        raise missing(f"{what} and {others} more" if others else what, folder, host, why)
    folder.mkdir(parents=True, exist_ok=True)
    for name, url in urls.items():
        try:
            download(url, folder / name, host)
        except OSError as e:
            raise not_sent(name, folder, host, e) from e


def download(url: str, to: Path, host: str) -> None:
    """Download a file, and go on where a download stopped.

    The framework would take a part of a file for a whole one.
    """
    part = to.with_name(f"{to.name}.part")
    done = max(0, part.stat().st_size - 1) if part.exists() else 0  # ask for one byte at least
    request = urllib.request.Request(url, headers={"Range": f"bytes={done}-"})
    with urllib.request.urlopen(request, timeout=30) as response:
        done = done if response.status == 206 else 0
        size = done + int(response.headers["Content-Length"])
        with part.open("r+b" if done else "wb") as file:
            file.seek(done)
            while piece := response.read(1 << 20):
                done += file.write(piece)
                line = f"\r{to.name}, from {host}: {done / 1e6:.1f} of {size / 1e6:.1f} MB"
                print(line, end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    if done < size:
        raise OSError("the connection ended; the next start goes on")
    part.replace(to)


def fetch_moonshine(language: str, arch: Any = None) -> Any:
    """Find a model, without the one for spelled words, which the framework does not use."""
    library = moonshine_voice.download
    model = library.find_model_info(language, arch)
    url = model["download_url"]
    folder = library.get_cache_dir() / url.removeprefix("https://")
    names = library.get_components_for_model_info(model)
    fetch(folder, {name: f"{url}/{name}" for name in names})
    return library.get_model_for_language(language, arch)


def fetch_piper(voice: str, folder: Path, **_: Any) -> None:
    language, name, quality = voice.split("-", 2)
    urls = {
        f"{voice}{extension}": URL_FORMAT.format(
            lang_family=language.partition("_")[0],
            lang_code=language,
            voice_name=name,
            voice_quality=quality,
            extension=extension,
        )
        for extension in (".onnx.json", ".onnx")  # the framework looks for the last
    }
    fetch(folder, urls)


def replace(module: ModuleType, name: str, function: Callable[..., Any]) -> None:
    setattr(module, name, function)


def look_here_first() -> None:
    """Have the libraries find models with the functions above.

    They have no setting for this, so this replaces the functions with which they, or the services
    of Pipecat 1.14, find a model.
    """
    replace(pipecat.services.moonshine.stt, "get_model_for_language", fetch_moonshine)
    replace(moonshine_voice.download, "download_spelling_model_for_language", lambda *_, **__: None)
    replace(pipecat.services.piper.tts, "download_voice", fetch_piper)
