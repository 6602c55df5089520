"""Finds the model and the voices of Kokoro."""

import hashlib
import os
from pathlib import Path
from typing import Any

import pipecat.services.kokoro.tts as service

from vbot.downloads import fetch, replace

Kokoro: Any = vars(service)["Kokoro"]


# SHA-256 of the files that Pipecat 1.14 names, of the release model-files-v1.0 of kokoro-onnx.
HASHES = {
    "kokoro-v1.0.onnx": "7d5df8ecf7d4b1878015a32686053fd0eebe2bc377234608764cc0ef3636a6c5",
    "voices-v1.0.bin": "bca610b8308e8d99f32e6fe4197e7ec01679264efed0cac9140fe9c29f1fbf7d",
}


def differs(file: Path, name: str) -> str:
    with file.open("rb") as opened:
        found = hashlib.file_digest(opened, "sha256").hexdigest()
    known = HASHES.get(name, found)
    return "" if found == known else f"its SHA-256 begins with {found[:12]}, not {known[:12]}"


def fetch_file(url: str, to: Path) -> None:
    fetch(to.parent, {to.name: url}, differs)


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
