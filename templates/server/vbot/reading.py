"""Has the model of Ollama read what a person says, while they speak.

A model without a GPU takes about a second to read a question. What it has read stays in its cache,
so that it has to read only what has changed when the question is complete. Whatever it answers to a
part of a question is thrown away.

This is done only if it costs nothing but time of this machine: the model and the speech to text run
on it. It is done while one person talks with the model, as Ollama keeps one conversation in its
cache unless OLLAMA_NUM_PARALLEL says otherwise. READ_AHEAD=off in .env switches it off.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from loguru import logger
from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.stt_service import STTService

from vbot.monitor import now, processors_of
from vbot.settings import is_loopback

EVERY = 0.4  # seconds between two looks at what has been said
RATE = 16000  # samples a second of the sound
BEFORE = RATE  # bytes of sound before speech was detected: half a second
SLOW = 1.0  # seconds that a reading takes on a machine that is too busy for more of them
MIN_WORDS = 2  # fewer change too often
LONGEST = 15 * 2 * RATE  # bytes: hearing more again and again takes too long
AFTER = bytes(RATE)  # silence, without which models lose the last word
MOONSHINE = "pipecat.services.moonshine.stt"

Hear = Callable[[bytes], Awaitable[str]]  # what has been said, in sound of 16 bits, mono, RATE
Read = Callable[[str], Awaitable[None]]  # has the model read the conversation with these words


class ReadingAhead:
    """Follows what one person says, and has the model read it.

    Args:
        hear: Turns sound to text.
        read: Has the model read. It is called once at a time, and cancelled when the person pauses.
        may_read: Whether the model is free to read.
    """

    def __init__(self, hear: Hear, read: Read, may_read: Callable[[], bool]):
        self._hear, self._read, self._may_read = hear, read, may_read
        self._sound = bytearray()  # of the turn, or of the last half second
        self._speaks = self._in_turn = False
        self._following: asyncio.Task[None] | None = None
        self._given: list[str] = []  # to the model, in this turn
        self._readings = self._in_vain = 0
        self._turns = self._whole = 0  # of turns, and of those that had been read when they ended

    def take(self, frame: Frame) -> None:
        """Take note of a frame of the person."""
        match frame:
            case InputAudioRawFrame(audio=audio, sample_rate=rate, num_channels=1) if rate == RATE:
                self._sound += audio
                if not self._in_turn:
                    del self._sound[:-BEFORE]
            case VADUserStartedSpeakingFrame():
                self._speaks = self._in_turn = True
                self._following = asyncio.create_task(self._follow(self._following))
            case VADUserStoppedSpeakingFrame():
                # The turn may be over: half a second later, the model is to be free.
                self._speaks = False
                if self._following:
                    self._following.cancel()

    async def _follow(self, earlier: asyncio.Task[None] | None) -> None:
        try:
            if earlier:
                earlier.cancel()
                await asyncio.wait({earlier})
            await self._read_while_spoken()
        except Exception as e:  # the turn goes on without it
            logger.debug(f"Nothing is read ahead: {e!r}")

    async def _read_while_spoken(self) -> None:
        """Have the model read what is heard whenever it changes, until the person pauses."""
        took = 0.0
        while self._speaks and len(self._sound) < LONGEST and took < SLOW:
            await asyncio.sleep(EVERY)
            if not (self._speaks and self._sound and self._may_read()):
                continue
            heard = await self._hear(bytes(self._sound) + AFTER)
            is_new = len(words_of(heard)) >= MIN_WORDS and heard not in self._given[-1:]
            if is_new and self._may_read():
                self._given.append(heard)
                began = now()
                await self._read(heard)
                took = now() - began

    async def stop(self, said: str = "") -> None:
        """End the turn: stop reading, as the model is to answer.

        Args:
            said: What the person has said in the end.
        """
        if self._following:
            self._following.cancel()
            await asyncio.wait({self._following})
        self._speaks = self._in_turn = False
        self._sound.clear()
        if self._given:
            self._turns += 1
            self._whole += self._given[-1] == said
            self._readings += len(self._given)
            self._in_vain += sum(not begins(said, given) for given in self._given)
        self._given.clear()

    async def close(self) -> None:
        await self.stop()
        if self._readings:
            logger.debug(
                f"Read ahead {self._readings} times, {self._in_vain} in vain, "
                f"and {self._whole} of {self._turns} turns as a whole"
            )


def words_of(text: str) -> list[str]:
    """Return the words of a part of a question. How it ends is not known yet."""
    return text.rstrip(" .,?!…。、，？！").split()


def begins(text: str, part: str) -> bool:
    """Whether a text begins with the words of a part, so that reading the part was of use."""
    words = words_of(part)
    return words_of(text)[: len(words)] == words


def is_on_this_machine(address: str, model: str) -> bool:
    """Whether a model is calculated here, for free: models of Ollama's cloud are not."""
    return is_loopback(urlsplit(address).hostname or "") and not model.endswith("cloud")


def is_on() -> bool:
    return os.getenv("READ_AHEAD", "on") == "on"


def ear_of(pipeline: FrameProcessor) -> Hear | None:
    """Return what hears parts of speech; None without a fast speech to text on this machine.

    It is a service apart, which shares the model, so that it makes no figures and no frames of the
    session.
    """
    if not (moonshine := sys.modules.get(MOONSHINE)):
        return None
    kind: Any = vars(moonshine)["MoonshineSTTService"]
    services: Any = processors_of(pipeline, STTService)
    if not (used := next((one for one in services if isinstance(one, kind)), None)):
        return None
    ear = kind(settings=used.settings)

    async def hear(sound: bytes) -> str:
        frames = [frame async for frame in ear.run_stt(sound)]
        return " ".join(frame.text for frame in frames if isinstance(frame, TranscriptionFrame))

    return hear
