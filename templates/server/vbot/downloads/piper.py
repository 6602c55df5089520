"""Finds the voices of Piper."""

import re
from pathlib import Path

import pipecat.services.piper.tts as service
from piper.download_voices import URL_FORMAT

from vbot.downloads import fetch, replace

VOICE = re.compile(r"([a-z]{2,3}_[A-Z]{2})-([^-]+)-(x_low|low|medium|high)")
EXAMPLE = "en_US-kristin-medium"
# The commit of the voices at Hugging Face. One that is newer has to be in PIPER_VOICES_DIR.
REVISION = "e21c7de8d4eab79b902f0d61e662b3f21664b8d2"
VOICES = "https://rhasspy.github.io/piper-samples lists all"


def fetch_voice(voice: str, folder: Path, **_: object) -> None:
    if not (found := VOICE.fullmatch(voice)):
        raise ValueError(f"PIPER_VOICE_ID is {voice!r}; it must be like {EXAMPLE}: {VOICES}.")
    language, name, quality = found.groups()
    urls = {
        f"{voice}{extension}": URL_FORMAT.replace("/main/", f"/{REVISION}/").format(
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
