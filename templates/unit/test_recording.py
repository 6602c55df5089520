"""vbot/recording.py: what is recorded, who is told, who can read the files, how long they stay."""

import asyncio
import os
import threading
import time
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loguru import logger
from pipecat.frames.frames import (
    AudioBufferStartRecordingFrame,
    Frame,
    InputAudioRawFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    OutputAudioRawFrame,
    TTSSpeakFrame,
)
from pipecat.runner.types import CallData, RunnerArguments
from pipecat.tests.utils import run_test

from vbot import recording
from vbot.recording import Recording

SENTENCE = "This conversation is recorded."
DAY = 24 * 3600  # seconds


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("RECORD", "RECORDINGS_KEPT_DAYS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "recordings"


@pytest.fixture
def logged() -> Iterator[list[str]]:
    lines: list[str] = []
    sink = logger.add(lambda message: lines.append(message.record["message"]), level="INFO")
    yield lines
    logger.remove(sink)


def session(is_call: bool = False) -> RunnerArguments:
    call_data = CallData(call_id="CA1") if is_call else None
    return RunnerArguments(session_id="0f3c", call_data=call_data)


class LLM:
    """A model that notes the frames which a tool pushes."""

    def __init__(self) -> None:
        self.pushed: list[Frame] = []

    async def push_frame(self, frame: Frame) -> None:
        self.pushed.append(frame)


class Params:
    def __init__(self) -> None:
        self.llm, self.results = LLM(), []

    async def result_callback(self, result: Any) -> None:
        self.results.append(result)


def record(recorder: Any, *more: Frame, rate: int = 16000) -> None:
    """Pass a second of both sides through it."""
    sound = bytes(range(1, 101)) * (rate // 50)

    async def pass_through() -> None:
        frames = [
            InputAudioRawFrame(sound, rate, 1),
            OutputAudioRawFrame(sound, rate, 1),
        ]
        await run_test(recorder, frames_to_send=[*more, *frames])

    asyncio.run(pass_through())


@pytest.mark.parametrize(
    ("value", "sentence", "instruction", "has_tool"),
    [
        (None, SENTENCE, "is recorded. The person is told so before you speak.", False),
        ("always", "", "is recorded: say so in your first sentence.", False),
        ("ask", SENTENCE, "Begin by asking whether", True),
        ("ask", "", "Begin by asking whether", True),
        ("never", SENTENCE, "", False),
        ("Never", SENTENCE, "", False),
    ],
)
def test_the_model_is_told(
    monkeypatch: pytest.MonkeyPatch,
    value: str | None,
    sentence: str,
    instruction: str,
    has_tool: bool,
) -> None:
    if value:
        monkeypatch.setenv("RECORD", value)
    made = Recording(session(), sentence)
    assert instruction in made.instruction and bool(instruction) == bool(made.instruction)
    assert [tool.__name__ for tool in made.tools] == ["start_recording"] * has_tool


@pytest.mark.parametrize(
    ("sentence", "result"),
    [
        (SENTENCE, "The recording has begun, and the person is told so."),
        ("", "The recording has begun: tell the person that it has."),
    ],
)
def test_the_tool_starts_the_recording(sentence: str, result: str) -> None:
    params: Any = Params()
    asyncio.run(Recording(session(), sentence).start_recording(params))
    [frame] = params.llm.pushed
    assert isinstance(frame, AudioBufferStartRecordingFrame)
    assert params.results == [result]


def test_only_the_bots_user_can_read_it(folder: Path, logged: list[str]) -> None:
    record(Recording(session()).recorder)
    [path] = folder.iterdir()
    assert path.stat().st_mode & 0o7777 == 0o600
    assert folder.stat().st_mode & 0o7777 == 0o700
    assert recording.NAME.fullmatch(path.name) and path.name.endswith("-0f3c.wav")
    assert logged == [f"Recording: recordings/{path.name}"]


@pytest.mark.parametrize(("is_call", "rate"), [(True, 8000), (False, 24000)])
def test_the_rate_is_that_of_the_line(folder: Path, is_call: bool, rate: int) -> None:
    record(Recording(session(is_call)).recorder)
    [path] = folder.iterdir()
    with wave.open(str(path)) as wav:
        assert (wav.getframerate(), wav.getnchannels(), wav.getsampwidth()) == (rate, 1, 2)
        assert 0.9 * rate < wav.getnframes() < 1.2 * rate


@pytest.mark.parametrize(("mode", "starts"), [("ask", False), ("never", False), ("ask", True)])
def test_it_is_recorded_only_once_the_person_agrees(
    folder: Path, monkeypatch: pytest.MonkeyPatch, mode: str, starts: bool
) -> None:
    monkeypatch.setenv("RECORD", mode)
    record(Recording(session()).recorder, *[AudioBufferStartRecordingFrame()] * starts)
    assert folder.exists() == starts


def test_a_file_is_whole_after_each_piece(tmp_path: Path) -> None:
    path = tmp_path / "recordings/a.wav"
    for number in (1, 2, 3):
        recording.append(path, bytes([number]) * 4000, 8000, 1)
        with wave.open(str(path)) as wav:
            assert wav.getnframes() == number * 2000
            assert wav.readframes(-1)[-1] == number


def test_a_full_disk_ends_the_recording_only(
    folder: Path, logged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(recording, "append", fail)
    record(Recording(session()).recorder)
    [line] = logged
    assert line.endswith("ends here: No space left on device")


def announced(mode: str, monkeypatch: pytest.MonkeyPatch, *frames: Frame) -> list[str]:
    """What comes out, by the names of the frames."""
    monkeypatch.setenv("RECORD", mode)

    async def pass_through() -> list[str]:
        down, _ = await run_test(
            Recording(session(), SENTENCE).announcement, frames_to_send=[*frames]
        )
        return [
            frame.text if isinstance(frame, TTSSpeakFrame) else type(frame).__name__
            for frame in down
        ]

    return asyncio.run(pass_through())


ANSWER, END = "LLMFullResponseStartFrame", "LLMFullResponseEndFrame"


def test_it_is_said_once_before_the_first_words(monkeypatch: pytest.MonkeyPatch) -> None:
    unspoken = LLMFullResponseStartFrame()
    unspoken.skip_tts = True
    answer = [LLMFullResponseStartFrame(), LLMFullResponseEndFrame()]
    said = announced("always", monkeypatch, unspoken, *answer, TTSSpeakFrame("Hello."))
    assert said == [ANSWER, SENTENCE, ANSWER, END, "Hello."]


def test_it_is_said_when_the_person_has_agreed(monkeypatch: pytest.MonkeyPatch) -> None:
    begin = AudioBufferStartRecordingFrame()
    said = announced("ask", monkeypatch, TTSSpeakFrame("May I?"), begin, TTSSpeakFrame("Thanks."))
    assert said == ["May I?", "AudioBufferStartRecordingFrame", SENTENCE, "Thanks."]


def test_nothing_is_said_of_what_is_not_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert announced("never", monkeypatch, TTSSpeakFrame("Hello.")) == ["Hello."]


def test_wrong_values_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Recording.problems() == []
    monkeypatch.setenv("RECORD", "Never")
    monkeypatch.setenv("RECORDINGS_KEPT_DAYS", "0")
    assert Recording.problems() == [
        "Set RECORD in .env to always, ask or never: it is 'Never'.",
        "Set RECORDINGS_KEPT_DAYS in .env to a number of days: it is '0'.",
    ]
    monkeypatch.setenv("RECORD", "ask")
    monkeypatch.setenv("RECORDINGS_KEPT_DAYS", "30")
    assert Recording.problems() == []


def test_only_old_recordings_are_deleted(folder: Path, logged: list[str]) -> None:
    old = "20260101-120000-000000-0f3c.wav"
    others = {"holiday.wav", "notes.txt", f"{old}.bak", f"x{old}"}
    young = old.replace("120000", "130000")
    folder.mkdir()
    for name in {old, young} | others:
        (folder / name).write_bytes(b"RIFF")
        written = time.time() - (29 if name == young else 31) * DAY
        os.utime(folder / name, (written, written))
    recording.delete_old(30)
    assert {path.name for path in folder.iterdir()} == others | {young}
    assert logged == [f"Deleted after 30 days: recordings/{old}"]


def test_old_recordings_are_deleted_every_day(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECORDINGS_KEPT_DAYS", "30")
    folder.mkdir()
    old, slept, over = folder / "20260101-120000-000000-0f3c.wav", [], threading.Event()

    def sleep(seconds: float) -> None:
        slept.append((seconds, old.exists()))
        if len(slept) == 3:
            over.set()
            threading.Event().wait()
        old.touch()
        os.utime(old, (0, 0))

    monkeypatch.setattr(recording.time, "sleep", sleep)
    recording.delete_old_daily()
    assert over.wait(10)
    assert slept == [(DAY, False)] * 3


def test_nothing_is_deleted_unless_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "delete_old", lambda days: pytest.fail("deletes"))
    threads = threading.active_count()
    recording.delete_old_daily()
    assert threading.active_count() == threads
