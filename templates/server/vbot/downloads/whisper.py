"""Finds the models of Whisper."""

import faster_whisper.transcribe
from faster_whisper.utils import download_model

from vbot.downloads import WAIT, replace
from vbot.downloads.hub import find_at_hub


def fetch_model(name: str, **options: object) -> str:
    return find_at_hub(download_model, f"model {name}", WAIT, name, **options)


def look_here_first() -> None:
    replace(faster_whisper.transcribe, "download_model", fetch_model)
