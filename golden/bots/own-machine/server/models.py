"""Loads the models on your own machines before the first session, or says why it cannot.

The framework's services load their models anew for each session. bot.py calls load() before any.
"""

import asyncio
import pkgutil
import sys
import threading
import traceback
from collections.abc import Callable
from functools import cache
from typing import Any

from pipecat.processors.frame_processor import FrameProcessor

import downloads
import ollama_model


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

    No service of Pipecat 1.14 accepts a model that is loaded already, so this replaces the loader
    that the service's module has imported.

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


downloads.look_here_first()

# Each call overwrites the result of the last one. The model's own speech detector remembers the
# last call, which adds words that nobody said. It is off: the framework has detected the speech.
share(
    "pipecat.services.moonshine.stt",
    "Transcriber",
    one_at_a_time="transcribe_without_streaming",
    options={"vad_threshold": "0"},
)
share("pipecat.services.piper.tts:PiperVoice", "load")


def load(make_services: Callable[..., Any]) -> None:
    """Load the models, so that nobody waits for one. It takes seconds, or minutes to download them.

    Raises SystemExit with what is missing, and what helps.
    """
    asyncio.run(_load(make_services))


async def _load(make_services: Callable[..., Any]) -> None:
    services, errors = try_services(make_services)
    problems = [f"{name or 'A service'} cannot start: {e}" for name, e in errors.items()]
    if services:
        problems += await ollama_model.prepare(services[1])
    if any(isinstance(e, downloads.Missing) for e in errors.values()):
        problems.append("Without the internet: see DEPLOY.md.")
    if problems:
        sys.exit("\n".join(problems))


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
