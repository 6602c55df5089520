"""Runs self_host.py and prints which models it loads: own_models.py [options of self_host.py]

It runs with the bot's own Python, in the folder of bot.py.
"""

import os
import pkgutil
import re
import runpy
from typing import Any

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # as vbot does first of all

LOADERS = {
    "MOONSHINE": "pipecat.services.moonshine.stt:Transcriber",
    "WHISPER": "pipecat.services.whisper.stt:WhisperModel",
    "PIPER": "pipecat.services.piper.tts:PiperVoice.load",
    "KOKORO": "pipecat.services.kokoro.tts:Kokoro",
}


def tell(path: str) -> None:
    """Print a line when this loads a model."""
    place, name = re.findall(r"(.+)[.:](\w+)", path)[0]
    owner = pkgutil.resolve_name(place)
    load = getattr(owner, name)

    def telling(*args: Any, **kwargs: Any) -> Any:
        print(f"LOADED {name}", flush=True)
        return load(*args, **kwargs)

    setattr(owner, name, telling)


for word in os.environ["OWN_MODELS"].split():
    tell(LOADERS[word])

runpy.run_module("self_host", run_name="__main__")
