"""Tests that another service takes over. A project has this file in tests/.

bot.py has the recipe of RECIPES.md, whose second services have the addresses BACKUP_*. The bot
begins each session with the first ones. FIGURES names a file for the seconds that it took.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

import cast
from sentences import SENTENCES
from vbot.testing import Bot, Service, Services, Tester, values
from vbot.testing.fixtures import free_port, program
from vbot.testing.sound import recording

QUESTION = "What is the capital of France?"
LAST = "It has two million people, and many more live around it, in towns and villages."
ANSWER = f"It is Paris. {LAST}"
ADDRESSES = {
    "stt": "DEEPGRAM_STT_BASE_URL",
    "llm": "OPENAI_BASE_URL",
    "tts": "CARTESIA_TTS_BASE_URL",
}
# What the first service does from the beginning, and how long a person may have to wait.
FAULTS = {"401": 15, "503": 15, "refused": 15, "hangs": 30}


def abort(request: web.Request) -> None:
    """Break the connection without a farewell."""
    if request.transport:
        request.transport.abort()


class Broken:
    """A stand-in that breaks off: a model and a voice after some words, an ear while it hears."""

    def __init__(self, service: Any, kind: str) -> None:
        self.service, self.kind, self.bytes = service, kind, 0
        self.requests: list[web.Request] = []
        self.handle, service.handle = service.handle, self.note
        if kind == "llm":
            self.stream, service._stream = service._stream, self.stream_some
        elif kind == "tts":
            self.speak, service._speak = service._speak, self.speak_some
        else:
            self.take, service.received = service.received, self.take_some
        self.is_on = False

    async def note(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        return await self.handle(request)

    async def break_off(self) -> None:
        self.service.failing = 503
        for request in self.requests:
            abort(request)

    async def stream_some(self, request: web.Request, body: Any, reply: Any) -> Any:
        if not self.is_on:
            return await self.stream(request, body, reply)
        wait = self.service._wait

        async def break_at(number: int) -> None:
            if number == 5:  # the first sentence is spoken
                await asyncio.sleep(1)
                await self.break_off()
            await wait(number)

        self.service._wait = break_at
        return await self.stream(request, body, reply)

    async def speak_some(self, ws: Any, session: Any, text: str, rate: int, head: Any) -> None:
        if not self.is_on or text != LAST:
            return await self.speak(ws, session, text, rate, head)
        send, chunks = ws.send_json, 0

        async def send_some(message: Any) -> None:
            nonlocal chunks
            chunks += message["type"] == "chunk"
            if chunks == 2:
                await asyncio.sleep(0.3)  # what was sent has come
                await self.break_off()
            elif chunks < 2:
                await send(message)

        ws.send_json = send_some
        await self.speak(ws, session, text, rate, head)

    async def take_some(self, ws: Any, session: Any, message: Any) -> None:
        if self.is_on and session.speaking:
            self.bytes += len(message)
            if self.bytes > 16000:
                return await self.break_off()
        await self.take(ws, session, message)


@pytest.fixture(scope="session")
async def backup(running_services: Services) -> AsyncIterator[Services]:
    services = Services(cast.SERVICES, values.AnyValue())
    services.script = running_services.script
    for service in services.all():
        service.script = services.script
    async with (
        services["stt"].serve() as stt,
        services["llm"].serve() as llm,
        services["tts"].serve() as tts,
    ):
        services.env = {
            "BACKUP_STT": f"ws://{stt}",
            "BACKUP_LLM": f"http://{llm}/v1",
            "BACKUP_TTS": f"ws://{tts}/tts/websocket",
        }
        yield services


@pytest.fixture
async def bot(
    request: pytest.FixtureRequest, running_services: Services, backup: Services, tmp_path: Path
) -> AsyncIterator[Bot]:
    more = dict(backup.env)
    for kind in getattr(request, "param", ()):
        address = running_services.env[ADDRESSES[kind]]
        more[ADDRESSES[kind]] = address.replace(
            address.split(":")[2].split("/")[0], str(free_port())
        )
    async with program("bot.py", "PORT/status", running_services, tmp_path, **more) as bot:
        bot.begin_test()
        yield bot


class Clock:
    def __init__(self, name: str) -> None:
        self.name, self.seconds, self.began = name, [], time.monotonic()

    def lap(self) -> None:
        now = time.monotonic()
        self.seconds.append(f"{now - self.began:.1f}")
        self.began = now

    def write(self) -> None:
        if file := os.getenv("FIGURES"):
            with Path(file).open("a") as figures:
                figures.write(f"{self.name}: {', '.join(self.seconds)} s\n")


def check(bot: Bot, backup: Service) -> None:
    """Check that the second service answered, and that no service is reported as failed."""
    assert backup.requests
    assert "takes over from" in bot.log
    assert "ERROR" not in bot.reports(), bot.reports()


async def ask(tester: Tester) -> None:
    """Speak for more than a second: nobody waits for a transcript of less."""
    tester.script.will_be_spoken(QUESTION)
    tester._microphone += recording(tester.rate) * 2
    await tester.until(lambda: not tester._microphone, "hear the question")


async def hears(tester: Tester, text: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while text not in tester.words():
        assert time.monotonic() < deadline, f"{tester.words()!r}\n{tester.bot.reports()}"
        assert not tester.gone.is_set(), tester.bot.reports()
        await asyncio.sleep(0.02)
    await tester.hears(text)


def hang(service: Any, kind: str) -> None:
    async def nothing(*arguments: Any) -> None:
        if kind == "llm":
            await asyncio.sleep(3600)

    setattr(service, {"llm": "_stream", "tts": "_speak", "stt": "received"}[kind], nothing)


@pytest.fixture
def first(services: Services, backup: Services) -> Services:
    for service in services.all():
        for name in ("_stream", "_speak", "received", "handle", "_wait"):
            vars(service).pop(name, None)
    for service in backup.all():
        service.clear()
    return services


CASES = [
    pytest.param(kind, fault, (kind,) if fault == "refused" else (), id=f"{kind}-{fault}")
    for kind in ADDRESSES
    for fault in FAULTS
]


@pytest.mark.parametrize(("kind", "fault", "bot"), CASES, indirect=["bot"])
async def test_out_of_order(
    kind: str, fault: str, bot: Bot, first: Services, backup: Services
) -> None:
    first.script.when(QUESTION, ANSWER)
    service = first[kind]
    if fault.isdigit():
        await service.fail(int(fault))
    elif fault == "hangs":
        hang(service, kind)
    clock = Clock(f"{kind} {fault}")
    async with Tester.connected(bot, first.script) as tester:
        await hears(tester, first.script.greeting, FAULTS[fault])
        clock.lap()
        for _ in range(2):
            await ask(tester)
            clock.began = time.monotonic()
            await hears(tester, "villages.", FAULTS[fault])
            clock.lap()
        check(bot, backup[kind])
    assert ("assistant", ANSWER) in first.script.conversation
    clock.write()


@pytest.mark.parametrize("kind", ADDRESSES)
async def test_broken_off(kind: str, bot: Bot, first: Services, backup: Services) -> None:
    first.script.when(QUESTION, ANSWER)
    broken = Broken(first[kind], kind)
    clock = Clock(f"{kind} breaks off")
    async with Tester.connected(bot, first.script) as tester:
        await tester.hears(first.script.greeting)
        assert not backup[kind].requests or kind == "stt"
        broken.is_on = True
        clock.lap()
        await ask(tester)
        clock.began = time.monotonic()
        await tester.until(lambda: "takes over from" in bot.log, "break off")
        tester._read()  # what is heard from now on
        await hears(tester, "villages.", 20)
        clock.lap()
        since = bot.log.index("takes over from")
        await tester.until(lambda: "Bot stopped speaking" in bot.log[since:], "end")
        await asyncio.sleep(0.5)  # the last words are in the context
        await ask(tester)
        await hears(tester, "villages.", 20)
        clock.lap()
        check(bot, backup[kind])
    asked, *answers, _ = first.script.conversation[1:]
    assert asked == ("user", QUESTION)
    assert answers[-1][1].startswith("It is Paris.") and answers[-1][1].endswith(LAST)
    assert len(answers) == (2 if kind == "llm" else 1)  # a begun answer is kept
    if kind == "tts":
        assert backup["tts"].requests[0]["transcript"].strip() == LAST
    clock.write()


@pytest.mark.parametrize("kind", ["llm"])
async def test_all_fail(kind: str, bot: Bot, first: Services, backup: Services) -> None:
    async with Tester.connected(bot, first.script) as tester:
        await tester.hears(first.script.greeting)
        await first[kind].fail(503)
        await backup[kind].fail(503)
        clock = Clock("all models fail")
        await ask(tester)
        await hears(tester, SENTENCES.apology, 25)
        clock.lap()
        await backup[kind].fail(0)
        await tester.speaks("Can you hear me?")
        await hears(tester, "You said: Can you hear me?", 25)
    clock.write()
