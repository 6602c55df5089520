"""Measure how long the bot without a key lets people wait, with a model as large as Llama 3.2 3B.

e2e/bench --local starts it. The bot hears with Moonshine (tiny) and speaks with Piper; the model
calculates as much as the real one, on all cores, and says what is below (lib/large_model.py). The
people speak with the bot's voice. All runs on this machine, and so does what plays the people and
Ollama. Whatever else does makes the figures worse: the last column says how many cores it took.
"""

import asyncio
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asking
import bots
import large_model
import network
import small_model
from asking import greeted, pauses, say, sound_after
from caller import until
from ollama import Ollama, served
from runners import Exchange, Scripted
from webrtc_client import WebRTCCaller
from weights import own_bot

MODEL = "llama3.2"
COLD = 20.0  # seconds that a load takes at least
PATIENCE = 180.0  # seconds of a person who waits for an answer
QUESTIONS = (
    "What is the capital of France?",
    "How many people live in that city?",
    "Which river flows through the city?",
    "When is the best time to visit?",
)
# The first sentence has eight words. The last is for whatever the small ears make of a question.
ANSWERS = {
    "capital": "Paris is the capital city of France today. Most visitors want to see its tower.",
    "people": "About two million people live in the city. Many more live in the towns around it.",
    "river": "The river in the city is the Seine. It flows from there to the sea in the north.",
    "time": "The best time to visit is early summer. Then it is warm, and the days are long.",
    "": "That is a question that I like much. Please tell me a little more about it.",
}
HEAD = (
    "question", "first sound", "answer", "end of turn", "in line", "reading", "writing", "voice",
    "tokens", "read", "others",
)  # fmt: skip


@dataclass
class Wait:
    """What somebody waited for, in moments by the clock of the event loop."""

    name: str
    asked: float
    heard: float  # the first sound, which may only say that it takes longer
    answered: float  # the first sound of the answer
    exchange: Exchange
    others: float  # cores that other programs took meanwhile

    def row(self) -> tuple[str, ...]:
        e = self.exchange
        moments = (self.asked, e.asked, e.begun, e.first_word, e.first_sentence, self.answered)
        parts = [f"{b - a:.1f}" for a, b in zip(moments, moments[1:], strict=False)]
        whole = (f"{self.heard - self.asked:.1f}", f"{self.answered - self.asked:.1f}")
        last = (str(e.prompt), str(e.read), f"{self.others:.1f}")
        return (self.name, *whole, *parts, *last)


def finals(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the bot has understood, of these messages."""
    return [m for m in messages if m["type"] == "user-transcription" and m["data"]["final"]]


class Others:
    """What other programs than this one and those that it started take of the processors."""

    def __init__(self) -> None:
        self._begun = self._now()

    def cores(self) -> float:
        """How many cores, on average, since the beginning."""
        time, others = (end - begin for begin, end in zip(self._begun, self._now(), strict=True))
        return others / time

    def _now(self) -> tuple[float, float]:
        total = [int(n) for n in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
        idle = total[3] + total[4]
        parents: dict[int, int] = {}
        taken: dict[int, int] = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            pid = int(stat.parent.name)
            parents[pid] = int(fields[1])
            taken[pid] = sum(int(fields[n]) for n in (11, 12, 13, 14))  # with children that ended
        ours = {os.getpid()}
        while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
            ours |= more
        busy = sum(total) - idle - sum(taken[pid] for pid in ours if pid in taken)
        return sum(total) / (os.cpu_count() or 1), busy


class Measured:
    """A bot and its model, and what people wait for."""

    def __init__(self, bot: bots.Bot, ollama: Ollama, runner: Scripted, sounds: dict[str, bytes]):
        self.bot, self.ollama, self.runner, self.sounds = bot, ollama, runner, sounds
        self.waits: list[Wait] = []

    async def ask(
        self, caller: WebRTCCaller, name: str, question: str, since: tuple[int, int] | None = None
    ) -> None:
        """Ask, and listen to the whole answer. If it may answer more, say since what it counts."""
        before, said = len(caller.heard), pauses(caller)
        exchanges, messages = since or self.counts(caller)
        others = Others()
        asked = await say(caller, self.sounds[question])
        first = asyncio.create_task(sound_after(caller, before, PATIENCE))

        def answers() -> list[Exchange]:
            texts = [m["data"]["text"].strip() for m in finals(caller.messages[messages:])]
            begun = (e for e in self.runner.exchanges[exchanges:] if e.first_sentence)
            return [e for e in begun if any(text in e.question for text in texts if text)]

        await until(lambda: bool(answers()), PATIENCE)
        exchange = answers()[-1]
        answered = await sound_after(caller, len(caller.heard))
        self.waits.append(Wait(name, asked, await first, answered, exchange, others.cores()))
        await until(lambda: pauses(caller) > said, 60)
        await asyncio.sleep(1)

    def counts(self, caller: WebRTCCaller) -> tuple[int, int]:
        return len(self.runner.exchanges), len(caller.messages)

    async def one(self) -> None:
        async with greeted(self.bot) as caller:
            for number, question in enumerate(QUESTIONS, 1):
                await self.ask(caller, f"{number}", question)

    async def two(self) -> None:
        """They ask different questions, by which their answers are told apart."""
        async with greeted(self.bot) as one, greeted(self.bot) as other:
            for number, question in enumerate(QUESTIONS, 1):
                await asyncio.gather(
                    self.ask(one, f"{number}, one", question),
                    self.ask(other, f"{number}, other", QUESTIONS[-number]),
                )

    async def cold(self) -> None:
        """The first question comes right after the greeting, when the model was unloaded."""
        await self.ollama.evict()
        self.ollama.load_takes = COLD
        async with greeted(self.bot) as caller:
            for number, question in enumerate(QUESTIONS[:2], 1):
                await self.ask(caller, f"{number}", question)

    async def impatient(self) -> None:
        """Somebody says something again while the model is loaded."""
        await self.ollama.evict()
        self.ollama.load_takes = COLD
        async with greeted(self.bot) as caller:
            since = self.counts(caller)
            await say(caller, self.sounds[QUESTIONS[0]])
            await asyncio.sleep(COLD / 2)
            await self.ask(caller, f"again, {COLD / 2:.0f} s later", QUESTIONS[0], since)


SCENES: dict[str, Callable[[Measured], Awaitable[None]]] = {
    "One person, warm": Measured.one,
    "Two people at once, warm": Measured.two,
    f"One person, and a load of {COLD:.0f} s": Measured.cold,
    f"Somebody who speaks again, and a load of {COLD:.0f} s": Measured.impatient,
}


def table(rows: list[tuple[str, ...]]) -> str:
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    lines = ["  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(lines)


async def measure(project: bots.Project, files: Path, home: str, names: list[str]) -> None:
    sounds = asking.spoken(project, QUESTIONS)
    for title, scene in SCENES.items():
        if names and not any(name in title for name in names):
            continue
        runner = Scripted(lambda: large_model.served(files), ANSWERS)
        ollama = Ollama(MODEL, runner)
        ahead = os.environ.get("READ_AHEAD", "on")  # off shows what reading ahead saves
        env = {"HOME": home, "OLLAMA_MODEL": MODEL, "READ_AHEAD": ahead}
        async with network.silence(), served(ollama), project.bot(env) as bot:
            while ollama.loading:
                await asyncio.sleep(0.1)
            await asyncio.sleep(3)
            measured = Measured(bot, ollama, runner, sounds)
            average, loads = os.getloadavg()[0], len(ollama.loads)
            try:
                await asyncio.wait_for(scene(measured), 400)
            except (AssertionError, TimeoutError, IndexError) as e:
                print(f"It broke off: {e!r}; see {bot.log_file}")
            tried = ollama.loads[loads:]
            print(f"\n{title} (load average {average:.1f})")
            for load in tried:
                how = "A load went to its end" if load.finished else "A load was given up"
                print(f"{how} after {load.ended - load.begun:.0f} s.")
            print(table([HEAD, *(wait.row() for wait in measured.waits)]))
            for line in bot.errors():
                print(line)


def main() -> None:
    project = own_bot(Path(os.environ["VBOT"]), "my-bot-measured")
    files = small_model.installed_model()
    large_model.made(files)
    print(
        "Seconds from the end of a question to the first sound, to the first of the answer, and\n"
        "what the latter consists of: the end of the turn (and hearing), waiting for the model,\n"
        "its reading, its writing of the first sentence, speech. Then: tokens of the conversation,"
        "\nthose that it read, and the cores that other programs took meanwhile.",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as home:
        network.run(lambda: measure(project, files, home, sys.argv[1:]), 3600)


if __name__ == "__main__":
    main()
