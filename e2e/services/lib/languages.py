"""The language that the bots of these checks are told, for each service that is told one.

What it is sent must have that language as a whole value, in the form of its own documentation:
the tag as it stands, unless `FORMS` says otherwise.
"""

import json
from collections.abc import Container
from pathlib import Path

import bots

# By the name of the service's file.
FORMS = {
    "stt/aws_transcribe": "de-DE",
    "stt/azure": "de-DE",
    "stt/elevenlabs": "deu",
    "stt/elevenlabs_realtime": "deu",
    "stt/google": "de-DE",
    "stt/meta": "German",
    "stt/sarvam": "hi-IN",
    "stt/sarvam_realtime": "hi-IN",
    "stt/zoom_ai": "de-DE",
    "tts/camb": "de-de",
    "tts/gemini": "de-DE",
    "tts/google": "de-DE",
    "tts/inworld": "de-DE",
    "tts/minimax": "German",
    "tts/pocket_tts": "german",
    "tts/polly": "de-DE",
    "tts/rime": "ger",
    "tts/sarvam": "hi-IN",
    "tts/speechify": "de-DE",
    "realtime/gemini_live": "de-DE",
    "realtime/vertex_live": "de-DE",
}


def told(vbot: Path, *kinds: str) -> dict[str, str]:
    """A tag that is not English for each service: what it would take for granted shows nothing."""
    command = (vbot, "init", "--describe-options", "--json")
    described = json.loads(bots.must(*command, cwd=bots.CACHE, env=bots.plain_env()))
    found = {}
    for kind in kinds:
        for service in described[kind]:
            if service["language"] == "told":
                others = [tag for tag in service["languages"] if not tag.startswith("en")]
                # A cascade's services have to have it in common.
                tag = next(tag for tag in ("de", "hi", *others) if tag in others)
                found[f"{kind}/{service['names'][0]}"] = tag
    assert {name for name in FORMS if name.split("/")[0] in kinds} <= found.keys()
    return found


def option(told: dict[str, str], service: str) -> list[str]:
    """What tells it to `vbot init`."""
    return ["--language", told[service]] if service in told else []


def seen(told: dict[str, str], service: str, texts: Container[str]) -> bool:
    """Whether the service was sent its language."""
    return service in told and FORMS.get(service, told[service]) in texts
