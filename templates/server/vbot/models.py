"""Loads the models on your own machines before the first session, or says why it cannot.

The framework's services load their models anew for each session. Here, sessions share them. What
a bot uses is seen by the modules that bot.py has imported.
"""

import asyncio
import importlib
import inspect
import pkgutil
import sys
import threading
import traceback
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

import aiohttp
from pipecat.processors.frame_processor import FrameProcessor

OLLAMA = "pipecat.services.ollama.llm"  # whose models are loaded by a server


def load_models(make_services: Callable[..., Any]) -> None:
    """Load the models, so that nobody waits for one. It takes seconds, or minutes to download them.

    Raises SystemExit with what is missing, and what helps.

    Args:
        make_services: Returns the services of one conversation. It may take an aiohttp session.
    """
    if downloads := optional("vbot.downloads"):
        downloads.look_here_first()
    share_models()
    if wrong := asyncio.run(try_to_load(make_services)):
        sys.exit("\n".join(wrong))


def optional(name: str) -> Any:
    """Return a module of this package; None in a project that does not have it."""
    return importlib.import_module(name) if find_spec(name) else None


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


def share_models() -> None:
    """Let all sessions share the models of those services that bot.py imports.

    A model of Pocket TTS cannot be shared: each session loads its own, from the same files.
    """
    share("pipecat.services.whisper.stt", "WhisperModel")
    share("pipecat.services.piper.tts:PiperVoice", "load")
    share("pipecat.services.kokoro.tts", "Kokoro")
    # Options of a call, such as the language, are set on the model for as long as the call lasts.
    share("pipecat.services.funasr.stt", "AutoModel", one_at_a_time="generate")
    # Each call overwrites the result of the last one. The model's own speech detector remembers
    # the last call, which adds words that nobody said. It is off: the framework has detected the
    # speech.
    share(
        "pipecat.services.moonshine.stt",
        "Transcriber",
        one_at_a_time="transcribe_without_streaming",
        options={"vad_threshold": "0"},
    )


def share(service: str, loader: str, one_at_a_time: str = "", **more: Any) -> None:
    """Let all sessions have the model that the first one loads, if the bot uses the service.

    No service of Pipecat 1.14 accepts a model that is loaded already, so this replaces the loader
    that the service's module has imported.

    Args:
        service: The service's module, or a class that it has imported, which has the loader.
        loader: The name of a class or function of the model's own library.
        one_at_a_time: The model's method that only one session at a time may call.
        more: Arguments for loading it, in addition to the framework's.
    """
    if service.partition(":")[0] not in sys.modules:
        return
    owner = pkgutil.resolve_name(service)
    load_anew = getattr(owner, loader)

    @cache
    def load_once(*args: Any, **kwargs: Any) -> Any:
        model = load_anew(*args, **kwargs, **more)
        return OneAtATime(model, one_at_a_time) if one_at_a_time else model

    setattr(owner, loader, load_once)


async def try_to_load(make_services: Callable[..., Any]) -> list[str]:
    """Load the models, and return what is wrong, if anything is."""
    if "session" in inspect.signature(make_services).parameters:
        async with aiohttp.ClientSession() as session:
            services, errors = try_services(make_services, session)
    else:
        services, errors = try_services(make_services)
    found = [f"{name or 'A service'} cannot start: {e}" for name, e in errors.items()]
    if OLLAMA in sys.modules and (ollama := optional("vbot.ollama")):
        for service in services if isinstance(services, tuple) else [services]:
            found += await ollama.prepare(service)
    if (downloads := optional("vbot.downloads")) and any(
        isinstance(e, downloads.Missing) for e in errors.values()
    ):
        found.append(
            "Without the internet, copy the folders above from a machine where the bot has started."
        )
    return found


class LeftOut:
    """Replaces a service that cannot start, so that the others are tried, too."""

    Settings = dict

    def __init__(self, *args: Any, **options: Any):
        pass


def try_services(make_services: Callable[..., Any], *args: Any) -> tuple[Any, dict[str, Exception]]:
    """Make the services, and return them with the errors of those that cannot start."""
    module = sys.modules[make_services.__module__]
    errors: dict[str, Exception] = {}
    while True:
        try:
            return make_services(*args), errors
        except Exception as e:
            name = failed_service(e)
            if name or not errors:  # later errors that no service raised come from LeftOut
                errors.setdefault(name, e)
            if getattr(module, name, LeftOut) is LeftOut:
                return None, errors
            setattr(module, name, LeftOut)


def failed_service(e: Exception) -> str:
    """Return the class of the service that raised the error; "" if none did."""
    owners = [frame.f_locals.get("self") for frame, _ in traceback.walk_tb(e.__traceback__)]
    names = [type(owner).__name__ for owner in owners if isinstance(owner, FrameProcessor)]
    return names[0] if names else ""
