"""vbot/reading.py: the model reads what is said while it is said, and keeps nobody waiting."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from loguru import logger
from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline

from fakes import Ears, passing
from vbot import reading
from vbot.reading import RATE, ReadingAhead, is_on_this_machine

QUESTION = "What is the capital of France?"


class Person:
    """Somebody who says a word every 0.3 seconds, and a model that reads."""

    def __init__(self, takes: float = 0.1) -> None:
        self.takes = takes  # seconds to read
        self.said = QUESTION.split()
        self.read: list[str] = []
        self.cancelled = 0
        self.running = self.most = 0  # readings at the same time
        self.heard: list[int] = []  # bytes
        self.is_free = True
        self.ahead = ReadingAhead(self._hear, self._read, lambda: self.is_free)

    async def _hear(self, sound: bytes) -> str:
        self.heard.append(len(sound))
        words = self.said[: int(len(sound) / 2 / RATE / 0.3)]
        whole = len(words) == len(self.said)
        return " ".join(words) + ("" if whole else ".") if words else ""

    async def _read(self, words: str) -> None:
        self.read.append(words)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(self.takes)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running -= 1

    async def speaks(self, seconds: float) -> None:
        self.ahead.take(VADUserStartedSpeakingFrame())
        await self.is_there(seconds)

    async def is_there(self, seconds: float, rate: int = RATE) -> None:
        for _ in range(round(seconds / 0.02)):
            self.ahead.take(InputAudioRawFrame(bytes(2 * rate // 50), rate, 1))
            await asyncio.sleep(0.02)

    async def pauses(self) -> None:
        self.ahead.take(VADUserStoppedSpeakingFrame())
        await asyncio.sleep(0.2)


def meets(person: Person, does: Callable[[Person], Any]) -> Person:
    async def main() -> None:
        await does(person)
        await person.ahead.close()
        assert person.running == 0
        assert len(asyncio.all_tasks()) == 1

    passing(main())
    return person


async def asks(it: Person) -> None:
    await it.speaks(2.4)
    await it.pauses()
    await it.ahead.stop(QUESTION)


@pytest.fixture
def debug() -> Iterator[list[str]]:
    lines: list[str] = []
    sink = logger.add(lambda line: lines.append(line.record["message"]), level="DEBUG")
    yield lines
    logger.remove(sink)


def test_a_question_is_read_while_it_is_asked(debug: list[str]) -> None:
    it = meets(Person(), asks)
    assert it.read == sorted(set(it.read), key=len) and len(it.read) >= 3
    assert all(reading.begins(QUESTION, words) for words in it.read)
    assert it.read[-1] == QUESTION
    assert (it.most, it.cancelled, it.ahead._in_vain) == (1, 0, 0)
    [line] = [line for line in debug if line.startswith("Read ahead")]
    assert line == f"Read ahead {len(it.read)} times, 0 in vain, and 1 of 1 turns as a whole"


@pytest.mark.parametrize("takes", [0.0, 0.5, 60])
def test_there_are_never_two_readings(takes: float) -> None:
    it = meets(Person(takes), asks)
    assert it.most == 1
    assert it.cancelled == (1 if takes > 1 else 0)  # when the person pauses


def test_a_busy_machine_is_left_alone() -> None:
    """A reading that takes long would still be under way when the model is to answer."""

    async def tells(it: Person) -> None:
        await it.speaks(6)

    assert len(meets(Person(takes=1.2), tells).read) == 1


def test_a_reading_stops_when_the_person_pauses() -> None:
    async def thinks(it: Person) -> None:
        await it.speaks(1.3)
        await it.pauses()
        assert (it.running, it.cancelled) == (0, 1)
        await it.speaks(1)  # and is not in the way of the next one
        assert it.most == 1 and len(it.read) == 2

    meets(Person(takes=60), thinks)


def test_nothing_is_read_once_the_person_pauses() -> None:
    async def thinks(it: Person) -> None:
        await it.speaks(1.3)
        await it.pauses()
        count = len(it.read)
        await it.is_there(5)
        assert len(it.read) == count > 0

    meets(Person(), thinks)


def test_a_pause_does_not_end_the_turn() -> None:
    async def goes_on(it: Person) -> None:
        await it.speaks(1.0)
        await it.pauses()
        before = it.heard[-1]
        await it.speaks(1.4)
        assert it.heard[-1] > before + RATE
        await it.ahead.stop(QUESTION)
        await it.speaks(0.9)  # the next turn begins anew
        assert it.heard[-1] < before + RATE

    meets(Person(), goes_on)


def test_readings_in_vain_are_counted() -> None:
    async def is_misheard(it: Person) -> None:
        await it.speaks(2.4)
        await it.ahead.stop("What is the weather like?")

    it = meets(Person(), is_misheard)
    right = [words for words in it.read if "capital" not in words]
    assert it.ahead._readings == len(it.read)
    assert it.ahead._in_vain == len(it.read) - len(right) > 0
    assert (it.ahead._whole, it.ahead._turns) == (0, 1)


def test_a_model_that_is_busy_reads_nothing() -> None:
    person = Person()
    person.is_free = False
    assert meets(person, asks).read == []
    assert person.heard == []


def test_noise_and_silence_are_not_read() -> None:
    async def is_silent(it: Person) -> None:
        await it.is_there(20)
        it.said = []
        await it.speaks(2)

    it = meets(Person(), is_silent)
    assert it.read == [] and max(it.heard) < 4 * 2 * RATE  # what was before is forgotten


def test_somebody_who_speaks_for_long_is_not_heard_again_and_again() -> None:
    async def tells(it: Person) -> None:
        await it.speaks(60)

    it = meets(Person(), tells)
    assert max(it.heard) <= reading.LONGEST + 2 * RATE


def test_sound_of_another_kind_is_left_alone() -> None:
    async def asks_by_telephone(it: Person) -> None:
        it.ahead.take(VADUserStartedSpeakingFrame())
        await it.is_there(2, rate=8000)

    assert meets(Person(), asks_by_telephone).read == []


def test_a_failure_to_hear_ends_only_the_reading() -> None:
    async def fails(sound: bytes) -> str:
        raise RuntimeError("no")

    person = Person()
    person.ahead._hear = fails
    assert meets(person, asks).read == []


@pytest.mark.parametrize(
    ("part", "is_of_use"),
    [
        ("What is the capital?", True),  # only how it ends was wrong
        (QUESTION, True),
        ("What is the cap.", False),
        ("What's the", False),
        ("What is the capital of France today?", False),
    ],
)
def test_which_readings_are_of_use(part: str, is_of_use: bool) -> None:
    assert reading.begins(QUESTION, part) == is_of_use


@pytest.mark.parametrize(
    ("address", "model", "is_here"),
    [
        ("http://localhost:11434", "llama3.2", True),
        ("http://127.0.0.1:11434", "llama3.2:3b", True),
        ("http://[::1]:11434", "llama3.2", True),
        ("http://localhost:11434", "gpt-oss:120b-cloud", False),  # calculated elsewhere, for money
        ("http://localhost:11434", "glm-4.6:cloud", False),
        ("http://192.168.1.7:11434", "llama3.2", False),
        ("http://ollama:11434", "llama3.2", False),
        ("https://api.example.com", "llama3.2", False),
        ("http://localhost.example.com", "llama3.2", False),
    ],
)
def test_only_a_model_on_this_machine_reads_ahead(address: str, model: str, is_here: bool) -> None:
    assert is_on_this_machine(address, model) == is_here


class Moonshine(Ears):
    """Like MoonshineSTTService."""

    settings: Any = SimpleNamespace(model="tiny")

    def __init__(self, settings: Any = None) -> None:
        super().__init__()
        self.made_with = settings

    async def run_stt(self, audio: bytes) -> AsyncGenerator[Frame | None, None]:
        yield TranscriptionFrame(f"{len(audio)} bytes", "", "")


def test_only_moonshine_hears_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, reading.MOONSHINE, raising=False)
    assert reading.ear_of(Pipeline([Moonshine()])) is None  # bot.py does not use it
    module = ModuleType(reading.MOONSHINE)
    vars(module)["MoonshineSTTService"] = Moonshine
    monkeypatch.setitem(sys.modules, reading.MOONSHINE, module)
    assert reading.ear_of(Pipeline([Ears()])) is None
    hear = reading.ear_of(Pipeline([Moonshine()]))
    assert hear

    async def main() -> str:
        return await hear(bytes(6))

    assert asyncio.run(main()) == "6 bytes"
