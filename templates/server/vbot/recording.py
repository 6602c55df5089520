"""Records conversations in recordings/ as RECORD in .env says: always, ask or never.

With ask, the model asks the person, and starts the recording with a tool. The bot says that it
records. RECORDINGS_KEPT_DAYS in .env says after how many days recordings are deleted.
"""

import asyncio
import os
import re
import struct
import threading
import time
import wave
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from loguru import logger
from pipecat.frames.frames import (
    AudioBufferStartRecordingFrame,
    Frame,
    LLMFullResponseStartFrame,
    TTSSpeakFrame,
)
from pipecat.processors.audio.audio_buffer_processor import AudioBufferProcessor
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.runner.types import RunnerArguments
from pipecat.services.llm_service import FunctionCallParams

FOLDER = Path("recordings")
NAME = re.compile(r"\d{8}-\d{6}-\d{6}-.+\.wav")  # of a recording
DAY = 24 * 3600  # seconds

MODES = ("always", "ask", "never")

# Samples a second. A carrier's line has no more than 8000, unless it says so.
RATE, LINE_RATE = 24000, 8000


def mode() -> str:
    """Return the value of RECORD. An unknown one, which is a problem, records nothing."""
    chosen = os.getenv("RECORD", "always")
    return chosen if chosen in MODES else "never"


class Recording:
    """The recording of one conversation.

    Args:
        runner_args: Of the conversation.
        sentence: Said when the bot records; "" for a model that speaks, which says so itself.

    Attributes:
        instruction: What the model has to know about recording; "" if nothing is recorded.
        tools: The tool that starts the recording, if the person is asked.
        announcement: Says the sentence. It belongs above the text to speech.
        recorder: Writes both sides to a WAV file. It belongs below the output.
    """

    def __init__(self, runner_args: RunnerArguments, sentence: str = ""):
        self._sentence = sentence
        self.instruction = self._instruction()
        self.tools: list[Callable[..., Any]] = [self.start_recording] if mode() == "ask" else []
        self.announcement = Announcement(sentence)
        self.recorder = recorder(runner_args)

    def _instruction(self) -> str:
        match mode():
            case "always" if self._sentence:
                return "The conversation is recorded. The person is told so before you speak."
            case "always":
                return "The conversation is recorded: say so in your first sentence."
            case "ask":
                return (
                    "Begin by asking whether the conversation may be recorded. Call "
                    "start_recording only if the person agrees. Otherwise go on without."
                )
        return ""

    async def start_recording(self, params: FunctionCallParams):
        """Record the conversation from now on. The person must have agreed to that."""
        await params.llm.push_frame(AudioBufferStartRecordingFrame())
        if self._sentence:
            result = "The recording has begun, and the person is told so."
        else:
            result = "The recording has begun: tell the person that it has."
        await params.result_callback(result)

    @staticmethod
    def problems() -> list[str]:
        """Return what is wrong with the variables, if anything is."""
        found = []
        chosen, days = os.getenv("RECORD"), os.getenv("RECORDINGS_KEPT_DAYS")
        if chosen and chosen not in MODES:
            found.append(f"Set RECORD in .env to always, ask or never: it is {chosen!r}.")
        if days and not (days.isdecimal() and int(days)):
            found.append(f"Set RECORDINGS_KEPT_DAYS in .env to a number of days: it is {days!r}.")
        return found


class Announcement(FrameProcessor):
    """Says that the bot records: before its first words, or when the person has agreed.

    It says so once, without being interrupted. A blank sentence is not said.
    """

    def __init__(self, sentence: str):
        super().__init__()
        self._sentence = sentence
        self._says_it_first = mode() == "always"

    async def process_frame(self, frame: Frame, direction: FrameDirection):
        await super().process_frame(frame, direction)
        begins = isinstance(frame, AudioBufferStartRecordingFrame)
        if begins:
            await self.push_frame(frame, direction)
        answers = isinstance(frame, LLMFullResponseStartFrame) and not frame.skip_tts  # aloud
        speaks = answers or isinstance(frame, TTSSpeakFrame)
        if self._sentence and (begins or speaks and self._says_it_first):
            said = TTSSpeakFrame(self._sentence, append_to_context=False)
            said.interruptible = False
            self._sentence = ""
            await self.push_frame(said)
        if not begins:
            await self.push_frame(frame, direction)


def private(path: str, flags: int) -> int:
    """Open a file that only the bot's user can read."""
    return os.open(path, flags, mode=0o600)


def append(path: Path, audio: bytes, sample_rate: int, num_channels: int) -> None:
    """Write audio at the end of a WAV file, and then its new length into the header."""
    if not path.exists():
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with open(path, "xb", opener=private) as file, wave.open(file, "wb") as wav:
            wav.setnchannels(num_channels)
            wav.setsampwidth(2)  # bytes
            wav.setframerate(sample_rate)
    with path.open("r+b") as file:
        end = file.seek(0, os.SEEK_END) + file.write(audio)
        for position in (4, 40):  # of the lengths of all and of the audio that follow them
            file.seek(position)
            file.write(struct.pack("<I", end - position - 4))


def recorder(runner_args: RunnerArguments) -> AudioBufferProcessor:
    """Return what writes both sides to a WAV file in recordings/, every ten seconds."""
    data = runner_args.call_data
    rate = data.get("sample_rate", LINE_RATE) if data else RATE
    audio_buffer = AudioBufferProcessor(
        sample_rate=rate,
        buffer_size=10 * 2 * rate,  # two bytes for each sample
        auto_start_recording=mode() == "always",
    )
    path = FOLDER / f"{datetime.now():%Y%m%d-%H%M%S-%f}-{runner_args.session_id}.wav"
    write_lock = asyncio.Lock()  # each piece comes in a task of its own
    failed = False

    @audio_buffer.event_handler("on_audio_data")
    async def on_audio_data(buffer, audio: bytes, sample_rate: int, num_channels: int):
        nonlocal failed
        async with write_lock:
            try:
                if not failed:
                    await asyncio.to_thread(append, path, audio, sample_rate, num_channels)
            except Exception as e:
                failed = True  # and the call goes on
                logger.error(f"The recording {path} ends here: {e}")

    @audio_buffer.event_handler("on_recording_stopped")
    async def on_recording_stopped(buffer):
        async with write_lock:
            if path.exists() and not failed:
                logger.info(f"Recording: {path}")

    return audio_buffer


def delete_old(days: int) -> None:
    """Delete recordings that were last written more than this many days ago."""
    oldest = time.time() - days * DAY
    for path in FOLDER.glob("*.wav"):
        try:
            if NAME.fullmatch(path.name) and path.lstat().st_mtime < oldest:
                path.unlink()
                logger.info(f"Deleted after {days} days: {path}")
        except FileNotFoundError:
            pass  # another bot has deleted it
        except OSError as e:
            logger.error(f"The old recording {path} cannot be deleted: {e}")


def delete_old_daily() -> None:
    """Delete old recordings now and once a day, if .env has RECORDINGS_KEPT_DAYS."""

    def repeat(days: int) -> None:
        while True:
            delete_old(days)
            time.sleep(DAY)

    if days := os.getenv("RECORDINGS_KEPT_DAYS"):
        threading.Thread(target=repeat, args=[int(days)], daemon=True).start()
