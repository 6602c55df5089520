"""A bot whose model Ollama has to load first says so to the person, who waits and is answered.

Ollama is lib/ollama.py, whose model writes what it is given, and takes its time to load.
"""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

import bots
import network
from asking import greeted
from caller import Caller, until
from conversation import ANSWER, KEYS, QUESTION
from ollama import Load, Ollama, now, served
from runners import Words
from services import Cartesia, Deepgram
from standins import StandIns
from test_own_machine import LOCAL

MODEL = "llama3.2"
LOAD = 20.0  # seconds
DAY = 24 * 3600


@pytest.fixture(scope="module")
def project(vbot: bots.Path) -> bots.Project:
    services = (*LOCAL, "--stt", "deepgram", "--tts", "cartesia")
    project = bots.installed(vbot, "cold", *services)
    keys = ("DEEPGRAM_API_KEY", "CARTESIA_API_KEY")
    project.write_env(**{name: KEYS[name] for name in keys})
    return project


@dataclass
class Cold:
    """A bot, and Ollama, which has just unloaded the model."""

    bot: bots.Bot
    services: StandIns
    ollama: Ollama
    still_loading: str  # what the bot says
    before: int = field(init=False)  # how many loads there were

    def __post_init__(self) -> None:
        self.before = len(self.ollama.loads)

    @property
    def loads(self) -> list[Load]:
        return self.ollama.loads[self.before :]

    def said(self, text: str) -> int:
        """How often the bot has begun to say it."""
        spoken = self.services.requests("cartesia", "speak")
        return sum(text in request["transcript"] for request in spoken)

    async def loaded(self, within: float = LOAD + 5) -> None:
        await until(lambda: bool(self.loads) and self.loads[-1].finished, within)
        assert [load.finished for load in self.loads] == [True], self.loads

    async def answers(self, times: int, within: float) -> None:
        await until(lambda: self.said(ANSWER) == times, within)
        assert self.said(ANSWER) == times, self.bot.log


@contextlib.asynccontextmanager
async def cold(project: bots.Project, load: float) -> AsyncIterator[Cold]:
    """A bot that started with a fast model, which from now on takes long to load."""
    text = (project.server / "sentences.py").read_text()
    [still_loading] = re.findall(r'still_loading="(.+)"', text)
    ollama = Ollama(MODEL, Words({"capital": ANSWER}))
    services = StandIns(
        Deepgram(KEYS["DEEPGRAM_API_KEY"], [QUESTION]), Cartesia(KEYS["CARTESIA_API_KEY"])
    )
    async with services, served(ollama), project.bot(services.env) as bot:
        assert ollama.loaded and ollama.loaded.stays == DAY
        await ollama.evict()
        ollama.load_takes = load
        yield Cold(bot, services, ollama, still_loading)
        assert bot.errors() == []


def problems(caller: Caller) -> list[str]:
    told = [m["data"] for m in caller.messages if m["type"] == "server-message"]
    return [data["problem"] for data in told if "problem" in data]


def test_a_person_who_waits_is_told_and_answered(project: bots.Project, figures: list[str]) -> None:
    async def conversation() -> None:
        async with cold(project, LOAD) as it, greeted(it.bot) as caller:
            await caller.say(QUESTION)
            await caller.receive("user-stopped-speaking")
            asked = now()
            await caller.receive("server-message", lambda data: data.get("loading") == MODEL, 10)
            told = now() - asked
            await it.loaded()
            assert it.said(it.still_loading) == 1
            assert problems(caller) == []
            await it.answers(1, 4)
            answered = now() - it.loads[0].ended
            await caller.receive("server-message", lambda data: data.get("loading") == "", 1)
            await caller.hear(ANSWER, 10)
            figures.append(f"question to the message that the model is loading: {told:.1f} s")
            figures.append(f"model is loaded to the answer's words: {answered:.1f} s")
            assert told < 2

    network.run(conversation)


def test_speaking_again_does_not_stop_the_load(project: bots.Project) -> None:
    async def conversation() -> None:
        async with cold(project, LOAD) as it, greeted(it.bot) as caller:
            while not it.loads or it.ollama.loading:
                await caller.say(QUESTION)
                await asyncio.sleep(3)
            await it.loaded()
            await until(lambda: it.said(ANSWER) > 0, 5)
            assert it.said(ANSWER) > 0, it.bot.log
            assert problems(caller) == []

    network.run(conversation)


def test_it_is_loaded_again_in_a_conversation(project: bots.Project) -> None:
    async def conversation() -> None:
        async with cold(project, 0) as it, greeted(it.bot) as caller:
            await caller.say(QUESTION)
            await it.answers(1, 10)
            await caller.hear(ANSWER)
            await it.ollama.evict()
            it.ollama.load_takes, it.before = 6.0, len(it.ollama.loads)
            await caller.say(QUESTION)
            await it.answers(2, 20)
            assert len(it.loads) == 1 and it.ollama.aborted == 0
            assert it.ollama.loaded and it.ollama.loaded.stays == DAY
            assert problems(caller) == []

    network.run(conversation)


def test_it_stays_for_a_day_after_every_conversation(project: bots.Project) -> None:
    async def conversations() -> None:
        async with cold(project, 2) as it:
            for number in (1, 2, 3):
                async with greeted(it.bot) as caller:
                    if number == 3:  # while somebody is there
                        await it.ollama.restart()
                    await caller.say(QUESTION)
                    await it.answers(number, 20)
                    assert problems(caller) == []
                await it.bot.sessions_end()
                assert it.ollama.loaded and it.ollama.loaded.stays == DAY
                await it.ollama.restart()

    network.run(conversations)
