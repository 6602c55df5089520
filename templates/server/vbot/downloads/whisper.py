"""Finds the models of Whisper."""

import faster_whisper.transcribe
from faster_whisper import utils

from vbot.downloads import WAIT, replace
from vbot.downloads.hub import find_at_hub

# The commits of the models at Hugging Face. Of others, the newest is downloaded.
REVISIONS = {
    "Systran/faster-whisper-tiny": "d90ca5fe260221311c53c58e660288d3deb8d356",
    "Systran/faster-whisper-tiny.en": "0d3d19a32d3338f10357c0889762bd8d64bbdeba",
    "Systran/faster-whisper-base": "ebe41f70d5b6dfa9166e2c581c45c9c0cfc57b66",
    "Systran/faster-whisper-base.en": "3d3d5dee26484f91867d81cb899cfcf72b96be6c",
    "Systran/faster-whisper-small": "536b0662742c02347bc0e980a01041f333bce120",
    "Systran/faster-whisper-small.en": "d1d751a5f8271d482d14ca55d9e2deeebbae577f",
    "Systran/faster-whisper-medium": "08e178d48790749d25932bbc082711ddcfdfbc4f",
    "Systran/faster-whisper-medium.en": "a29b04bd15381511a9af671baec01072039215e3",
    "Systran/faster-whisper-large-v1": "b07c8d4be0be90092aa01a29c975077acb8d15c9",
    "Systran/faster-whisper-large-v2": "f0fe81560cb8b68660e564f55dd99207059c092e",
    "Systran/faster-whisper-large-v3": "edaa852ec7e145841d8ffdb056a99866b5f0a478",
    "Systran/faster-distil-whisper-small.en": "ef77d90526ccd62cde3808ee70626a01e5cf83e4",
    "Systran/faster-distil-whisper-medium.en": "80ddfce281f77766d8943d63109199fc8145dfa5",
    "Systran/faster-distil-whisper-large-v2": "fe9b404fc56de3f7c38606ef9ba6fd83526d05e4",
    "Systran/faster-distil-whisper-large-v3": "c3058b475261292e64a0412df1d2681c06260fab",
    "distil-whisper/distil-large-v3.5-ct2": "9793ccc07920e0f830e1dba0343efcdf0ef8c903",
    "mobiuslabsgmbh/faster-whisper-large-v3-turbo": "0a363e9161cbc7ed1431c9597a8ceaf0c4f78fcf",
}
names: dict[str, str] = vars(utils)["_MODELS"]  # of models, such as "small", and their ids


def fetch_model(name: str, **options: object) -> str:
    options["revision"] = options.get("revision") or REVISIONS.get(names.get(name, name))
    return find_at_hub(utils.download_model, f"model {name}", WAIT, name, **options)


def look_here_first() -> None:
    replace(faster_whisper.transcribe, "download_model", fetch_model)
