"""Finds the model and the voices of Kokoro."""

import os
from pathlib import Path
from typing import Any

import pipecat.services.kokoro.tts as service

from vbot.downloads import fetch, replace

Kokoro: Any = vars(service)["Kokoro"]


def fetch_file(url: str, to: Path) -> None:
    fetch(to.parent, {to.name: url})


def load_model(*files: Any, **options: Any) -> Any:
    """Load the model, and check the voice, which it would look for only when it speaks."""
    model = Kokoro(*files, **options)
    voice, voices = os.getenv("KOKORO_VOICE_ID"), model.get_voices()
    if voice and voice not in voices:
        raise ValueError(f"KOKORO_VOICE_ID is {voice!r}; it must be one of {', '.join(voices)}.")
    return model


def look_here_first() -> None:
    replace(service, "_download_file", fetch_file)
    replace(service, "Kokoro", load_model)
