"""Loads what runs on machines of your own before the first session, or says why it cannot.

The framework's services load their models anew for each session. bot.py calls load() before any.
"""

import asyncio
import contextlib
import json
import os
import pkgutil
import sys
import threading
import traceback
import urllib.request
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import openai
from loguru import logger
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.piper.tts import PIPER_CACHE_DIR
from piper.download_voices import URL_FORMAT


class OneAtATime:
    """A model of which only one session at a time may call a certain method."""

    def __init__(self, model: Any, method: str):
        self._model, self._method, self._lock = model, method, threading.Lock()

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._model, name)
        if name != self._method:
            return value

        def locked(*args: Any, **kwargs: Any) -> Any:
            with self._lock:
                return value(*args, **kwargs)

        return locked


def share(module: str, loader: str, one_at_a_time: str = "", **more: Any) -> None:
    """Let all sessions have the model that the first one loads.

    No service of Pipecat 1.14 can be given a model that is loaded already, so this replaces the
    name by which the service's module knows what loads it.

    Args:
        module: The module or class that has the name.
        loader: The name: of a class or function of the model's own library.
        one_at_a_time: The model's method that only one session at a time may call.
        more: Arguments for loading it, in addition to the framework's.
    """
    owner = pkgutil.resolve_name(module)
    load_anew = getattr(owner, loader)

    @cache
    def load_once(*args: Any, **kwargs: Any) -> Any:
        model = load_anew(*args, **kwargs, **more)
        return OneAtATime(model, one_at_a_time) if one_at_a_time else model

    setattr(owner, loader, load_once)


# The next call overwrites what a call returned. The model's own detector of speech remembers the
# last call, so that words appear which nobody said. The framework has found the speech already.
share(
    "pipecat.services.moonshine.stt",
    "Transcriber",
    one_at_a_time="transcribe_without_streaming",
    options={"vad_threshold": "0"},
)
share("pipecat.services.piper.tts:PiperVoice", "load")


def fetch(url: str, to: Path) -> None:
    """Download a file if it is missing, and go on where a download stopped.

    The framework would take a part of a file for a whole one. Raises OSError with the address, and
    where the file belongs.
    """
    if to.exists():
        return
    to.parent.mkdir(parents=True, exist_ok=True)
    part, host = to.with_name(f"{to.name}.part"), urlsplit(url).hostname
    done = max(0, part.stat().st_size - 1) if part.exists() else 0  # a whole part has a byte to ask
    request = urllib.request.Request(url, headers={"Range": f"bytes={done}-"})
    try:
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
    except OSError as e:
        raise OSError(f"{url} does not come ({e}); it belongs to {to}") from e
    part.replace(to)


def fetch_models() -> None:
    """Download the files that the services of bot.py will look for."""
    voice = os.getenv("PIPER_VOICE_ID", "en_US-kristin-medium")
    folder = Path(os.getenv("PIPER_VOICES_DIR", PIPER_CACHE_DIR))
    if (folder / f"{voice}.onnx").exists():
        return
    language, name, quality = voice.split("-", 2)
    for extension in (".onnx.json", ".onnx"):  # the framework looks for the last
        url = URL_FORMAT.format(
            lang_family=language.partition("_")[0],
            lang_code=language,
            voice_name=name,
            voice_quality=quality,
            extension=extension,
        )
        fetch(url, folder / (voice + extension))


def load(make_services: Callable[..., Any]) -> None:
    """Load the models, so that nobody waits for one. It takes seconds, or minutes to download them.

    Raises SystemExit with what is missing, and what helps.
    """
    asyncio.run(_load(make_services))


async def _load(make_services: Callable[..., Any]) -> None:
    try:
        fetch_models()
        services = make_services()
    except Exception as e:
        sys.exit(f"{failed_service(e)} cannot start: {e}\nWithout the internet: see DEPLOY.md.")
    await _warm(services[1])


def failed_service(e: Exception) -> str:
    """Return the class of the service that raised the error, or "A service"."""
    owners = [frame.f_locals.get("self") for frame, _ in traceback.walk_tb(e.__traceback__)]
    names = [type(owner).__name__ for owner in owners if isinstance(owner, FrameProcessor)]
    return names[0] if names else "A service"


async def _warm(llm: Any) -> None:
    """Ask for a first word: then the model is in memory, and has read the instruction."""
    address = os.getenv("OLLAMA_BASE_URL", "http://localhost:11434/v1").rstrip("/")
    model = llm.settings.model
    logger.info(f"Loading {model} at {address}")
    system = {"role": "system", "content": llm.settings.system_instruction}
    hello: Any = [system, {"role": "user", "content": "Hello"}]
    try:
        async with openai.AsyncOpenAI(base_url=address, api_key="none") as client:
            await client.chat.completions.create(model=model, messages=hello, max_tokens=1)
    except openai.APIConnectionError:
        sys.exit(f"Nothing answers at {address}: start Ollama, or set OLLAMA_BASE_URL in .env.")
    except openai.NotFoundError:
        sys.exit(f"There is no model {model} at {address}. Run: ollama pull {model}")
    except openai.APIError as e:
        sys.exit(f"{model} at {address} does not answer: {e.message}")
    stays = json.dumps({"model": model, "keep_alive": "24h"}).encode()
    url = f"{address.removesuffix('/v1')}/api/generate"
    with contextlib.suppress(OSError):  # another server than Ollama need not know how
        await asyncio.to_thread(urllib.request.urlopen, url, stays, 60)
