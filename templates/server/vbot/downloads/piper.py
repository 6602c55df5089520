"""Finds the voices of Piper."""

from pathlib import Path

import pipecat.services.piper.tts as service
from piper.download_voices import URL_FORMAT

from vbot.downloads import fetch, replace


def fetch_voice(voice: str, folder: Path, **_: object) -> None:
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


def look_here_first() -> None:
    replace(service, "download_voice", fetch_voice)
