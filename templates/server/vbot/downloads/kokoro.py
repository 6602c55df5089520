"""Finds the model and the voices of Kokoro."""

from pathlib import Path

import pipecat.services.kokoro.tts as service

from vbot.downloads import fetch, replace


def fetch_file(url: str, to: Path) -> None:
    fetch(to.parent, {to.name: url})


def look_here_first() -> None:
    replace(service, "_download_file", fetch_file)
