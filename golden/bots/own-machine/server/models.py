"""What runs on machines of your own: loaded and warm before anybody comes, or the bot says why not.

The framework's services load their models anew for each session. bot.py calls load() before any.
"""

import asyncio
import contextlib
import json
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
from pipecat.services.piper import tts
from piper import download_voices


def share(place: str, name: str, alone: str = "", **more: Any) -> None:
    """Let all sessions have the model that the first one loads.

    Args:
        place: The module or class in which the framework finds what loads the model.
        name: What it is called there.
        alone: The model's method that only one session at a time may call.
        more: Arguments for loading it, in addition to the framework's.
    """
    owner, lock = pkgutil.resolve_name(place), threading.Lock()
    load_anew = getattr(owner, name)

    @cache
    def load_once(*args: Any, **kwargs: Any) -> Any:
        model = load_anew(*args, **kwargs, **more)
        if alone:
            method = getattr(model, alone)

            def locked(*args: Any, **kwargs: Any) -> Any:
                with lock:
                    return method(*args, **kwargs)

            setattr(model, alone, locked)
        return model

    setattr(owner, name, load_once)


# The next call overwrites what a call returned. The model's own detector of speech remembers the
# last call, so that words appear which nobody said. The framework has found the speech already.
share(
    "pipecat.services.moonshine.stt",
    "Transcriber",
    alone="transcribe_without_streaming",
    options={"vad_threshold": "0"},
)
share("pipecat.services.piper.tts:PiperVoice", "load")


def fetch(url: str, to: Path) -> None:
    """Download a file, and go on where a download stopped. Say what, from where and how far.

    Raises OSError with the address, and where the file belongs.
    """
    to.parent.mkdir(parents=True, exist_ok=True)
    part, host = to.with_name(f"{to.name}.part"), urlsplit(url).hostname
    done = max(0, part.stat().st_size - 1) if part.exists() else 0  # a whole part has a byte to ask
    request = urllib.request.Request(url, headers={"Range": f"bytes={done}-"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            done = done if answer.status == 206 else 0
            size = done + int(answer.headers["Content-Length"])
            with part.open("r+b" if done else "wb") as file:
                file.seek(done)
                while piece := answer.read(1 << 20):
                    done += file.write(piece)
                    told = f"\r{to.name}, from {host}: {done / 1e6:.1f} of {size / 1e6:.1f} MB"
                    print(told, end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        if done < size:
            raise OSError("the connection ended; the next start goes on")
    except OSError as e:
        raise OSError(f"{url} does not come ({e}); it belongs to {to}") from e
    part.replace(to)


def fetch_voice(voice: str, folder: Path, **_: Any) -> None:
    """Download a voice. What the framework looks for comes last."""
    language, name, quality = voice.split("-", 2)
    family = language.partition("_")[0]
    for extension in (".onnx.json", ".onnx"):
        url = download_voices.URL_FORMAT.format(
            lang_family=family,
            lang_code=language,
            voice_name=name,
            voice_quality=quality,
            extension=extension,
        )
        fetch(url, folder / (voice + extension))


tts.__dict__["download_voice"] = fetch_voice


def load(make_services: Callable[..., Any]) -> None:
    """Load the models, so that nobody waits for one. It takes seconds, or minutes to fetch them.

    Raises SystemExit with what is missing, and what helps.
    """
    asyncio.run(_load(make_services))


async def _load(make_services: Callable[..., Any]) -> None:
    try:
        services = make_services()
    except Exception as e:
        held = (frame.f_locals.get("self") for frame, _ in traceback.walk_tb(e.__traceback__))
        name = next((type(one).__name__ for one in held if isinstance(one, FrameProcessor)), "")
        sys.exit(f"{name or 'A service'} cannot start: {e}\nWithout the internet: see DEPLOY.md.")
    await _warm(services[1])


async def _warm(llm: Any) -> None:
    """Ask for a first word: then the model is in memory, and has read who it is."""
    address, model = str(llm._client.base_url).rstrip("/"), llm._settings.model
    logger.info(f"Loading {model} at {address}")
    try:
        system = {"role": "system", "content": llm._settings.system_instruction}
        hello = [system, {"role": "user", "content": "Hello"}]
        await llm._client.chat.completions.create(model=model, messages=hello, max_tokens=1)
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
