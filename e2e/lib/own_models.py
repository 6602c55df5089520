"""A bot whose models run in its process, for several people: own_models.py [options of bot.py]

It loads the models first, as self_host.py does, and says which it loaded. It runs with the bot's
own Python, in the folder of bot.py. Moonshine's small model comes from a folder, because its
own way to it leads to a registry of its maker.
"""

import os
import pkgutil
import re
from typing import Any

import bot as project  # first: it says what ONNX Runtime reads when it is imported
from pipecat.runner.run import main
from pipecat.runner.types import RunnerArguments

LOADERS = {
    "MOONSHINE": "pipecat.services.moonshine.stt:Transcriber",
    "WHISPER": "pipecat.services.whisper.stt:WhisperModel",
    "PIPER": "pipecat.services.piper.tts:PiperVoice.load",
    "KOKORO": "pipecat.services.kokoro.tts:Kokoro",
}


def tell(path: str) -> None:
    """Have it say when this loads a model."""
    place, name = re.findall(r"(.+)[.:](\w+)", path)[0]
    owner = pkgutil.resolve_name(place)
    load = getattr(owner, name)

    def telling(*args: Any, **kwargs: Any) -> Any:
        print(f"LOADED {name}", flush=True)
        return load(*args, **kwargs)

    setattr(owner, name, telling)


for word in os.environ["OWN_MODELS"].split():
    tell(LOADERS[word])
if folder := os.getenv("MOONSHINE_FOLDER"):
    from moonshine_voice import ModelArch
    from pipecat.services.moonshine import stt

    stt.get_model_for_language = lambda *_: (folder, ModelArch.TINY)

import models  # noqa: E402


async def bot(runner_args: RunnerArguments) -> None:
    """The framework's runner calls this for each person."""
    await project.bot(runner_args)


models.load()
print("READY", flush=True)
main()
