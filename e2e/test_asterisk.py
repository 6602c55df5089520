"""Calls of a stand-in for Asterisk: what its callers hear, and what its dialplan does next.

The stand-in is made from what a real one sent: test_real_asterisk.py has the same calls with that.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TypeVar

import aiohttp
import pytest
from aiohttp import WSMsgType

import bots
import busy
import network
import recipes
import socket_clients
import speech
from caller import EAR, until
from conversation import ANSWER, GREETING, KEYS, QUESTION
from phones import AsteriskCaller, AsteriskLine
from services import Call, Cartesia, Deepgram, OpenAI
from standins import StandIns
from test_handing_over import HAND_OVER, edit, set_hours
from test_phones import REQUEST, STORY, interrupts
from test_voicemail import MACHINE, Classifying

CASCADE = ["-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia"]
TOKEN = "0123456789abcdef"
ACCESS = {"PHONE_TOKEN": TOKEN, "ASTERISK_PASSWORD": AsteriskLine.password}
END, BYE = "Please end this call now.", "Goodbye, and have a very nice day in Paris."
PERSON, PUT = "May I talk to a person?", "I am putting you through to a colleague."
ANSWERS: dict[str, str | Call] = {
    QUESTION: ANSWER,
    REQUEST: STORY,
    END: Call("hang_up", {"goodbye": BYE}),
    PERSON: Call("hand_over", {"goodbye": PUT}),
    **busy.ANSWERS,
}
Asterisk = TypeVar("Asterisk", bound=AsteriskCaller)
GOES_ON, IS_OVER = 38, 16  # causes: the dialplan's next line, the end of the call


@pytest.fixture(scope="module")
def hotline(vbot: Path) -> bots.Project:
    project = bots.installed(vbot, "pbx", "-t", "asterisk", "--self-host", "--recording", *CASCADE)
    edit(project, HAND_OVER)
    recipes.follow(project, "RECIPES.md", "Keys that the caller presses", recipes.callers_keys)
    set_hours(project, "time.weekday() > 6")
    busy.add_tools(project)
    return project


@contextlib.asynccontextmanager
async def running(
    hotline: bots.Project, script: str = "self_host.py", **env: str
) -> AsyncIterator[tuple[bots.Bot, StandIns, OpenAI]]:
    values = {**KEYS, **ACCESS, "COLLEAGUE": "201", "TIME_ZONE": "UTC", "RECORD": "never", **env}
    lines = (f"{name}={value}\n" for name, value in values.items())
    (hotline.server / ".env").write_text("".join(lines))
    answers = ANSWERS | {"DTMF: 5#": ANSWER, MACHINE[0]: "Oh, hello."}
    model = Classifying(KEYS["OPENAI_API_KEY"], GREETING, answers)
    words = [*answers, GREETING, ANSWER, STORY, BYE, PUT, *busy.SENTENCES]
    services = StandIns(
        Deepgram(KEYS["DEEPGRAM_API_KEY"], words),
        model,
        Cartesia(KEYS["CARTESIA_API_KEY"]),
    )
    async with services, hotline.bot(services.env, script=script) as bot:
        yield bot, services, model


def call(
    bot: bots.Bot, kind: type[Asterisk] = AsteriskCaller
) -> contextlib.AbstractAsyncContextManager[Asterisk]:
    headers = AsteriskLine.signature({}, "")
    more = f"/{TOKEN}?{AsteriskLine.query}"
    return socket_clients.call(kind, bot.url, more, headers=headers)


async def ends(caller: AsteriskCaller, cause: int) -> None:
    await caller.left_alone()
    assert caller.line.cause == cause


def test_a_conversation_and_the_whole_goodbye(hotline: bots.Project) -> None:
    async def calls() -> None:
        async with running(hotline) as (bot, services, _), call(bot) as caller:
            await caller.hear(GREETING)
            await interrupts(caller)
            await caller.line.presses("5#")
            await until(lambda: "DTMF: 5#" in str(services.requests("openai", "chat")), 20)
            assert '"+15551234567"' in str(services.requests("openai", "chat")[0])
            await asyncio.sleep(5)
            await caller.say(END)
            await ends(caller, IS_OVER)
            assert caller.line.commands[-2:] == ["MARK_MEDIA last-word", "HANGUP"]
            played = speech.hear(bytes(caller.heard), EAR, [BYE])
            assert played == [BYE] and not caller.line.queue
            assert bot.errors() == []

    network.run(calls)


def test_a_colleague_takes_over(hotline: bots.Project) -> None:
    async def calls() -> None:
        async with running(hotline) as (bot, _, _), call(bot) as caller:
            await caller.hear(GREETING)
            await caller.say(PERSON)
            await ends(caller, GOES_ON)
            assert speech.hear(bytes(caller.heard), EAR, [PUT]) == [PUT]
            await bot.sessions_end()
            assert bot.errors() == []

    network.run(calls)


def test_a_service_that_fails(hotline: bots.Project) -> None:
    """With FALLBACK_NUMBER the dialplan goes on; without it, the caller hears the apology."""

    async def calls() -> None:
        for fallback, cause in (("200", GOES_ON), ("", IS_OVER)):
            async with running(hotline, FALLBACK_NUMBER=fallback) as (bot, _, model):
                model.failing = 401
                async with call(bot) as caller:
                    await ends(caller, cause)
                await bot.sessions_end()

    network.run(calls)


def test_a_full_bot_and_one_that_stops(hotline: bots.Project) -> None:
    async def status(bot: bots.Bot) -> int:
        async with aiohttp.ClientSession(headers=AsteriskLine.signature({}, "")) as http:
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await http.ws_connect(f"{bot.url}/asterisk/{TOKEN}", protocols=["media"])
            return refused.value.status

    async def calls() -> None:
        limits = {"MAX_SESSIONS": "1", "DRAIN_SECONDS": "3"}
        async with running(hotline, **limits) as (bot, _, _), call(bot) as caller:
            await caller.hear(GREETING)
            assert await status(bot) == 503
            assert (await bot.metrics())["bot_sessions_refused_total"] == 1
            bot.process.terminate()
            await asyncio.sleep(0.5)
            assert await status(bot) == 503
            await ends(caller, GOES_ON)  # after DRAIN_SECONDS
            await asyncio.wait_for(bot.process.wait(), 20)

    network.run(calls)


def test_a_long_answer_does_not_overrun_the_queue(hotline: bots.Project) -> None:
    """An Asterisk that plays nothing for a while says so, and all is heard later."""

    async def calls() -> None:
        async with running(hotline) as (bot, _, _), call(bot) as caller:
            await caller.hear(GREETING)
            await caller.say(REQUEST)
            await caller.listens()
            await caller.line.ws.send_str("MEDIA_XOFF")
            await asyncio.sleep(1)
            queued = len(caller.line.queue)
            await asyncio.sleep(2)
            assert len(caller.line.queue) <= queued, "the bot sends on"
            await caller.line.ws.send_str("MEDIA_XON")
            await caller.hear(STORY)
            assert bot.errors() == []

    network.run(calls)


class PingingCaller(AsteriskCaller):
    """Pings the bot four times a second. `waits` has the seconds until each answer."""

    autoping = False

    def __init__(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        super().__init__(ws)
        self.waits: list[float] = []
        self._pings: dict[bytes, float] = {}

    @property
    def unanswered(self) -> int:
        return len(self._pings)

    async def _ping(self) -> None:
        now = asyncio.get_running_loop().time
        for number in range(10_000):
            name = str(number).encode()
            self._pings[name] = now()
            await self.ws.ping(name)
            await asyncio.sleep(0.25)

    async def listen(self) -> None:
        now = asyncio.get_running_loop().time
        pinging = asyncio.create_task(self._ping())
        try:
            async for message in self.ws:
                match message.type:
                    case WSMsgType.PING:
                        await self.ws.pong(message.data)
                    case WSMsgType.PONG:
                        self.waits.append(now() - self._pings.pop(bytes(message.data)))
                    case _:
                        self.received(message.data)
        finally:
            pinging.cancel()


@pytest.mark.alone  # it measures how fast the bot is
def test_pings_are_answered_by_a_busy_bot(hotline: bots.Project) -> None:
    """At once while it starts, talks, and computes in a thread. What blocks it delays the answers.

    Nothing is lost then: neither an answer to a ping nor the call.
    """

    async def calls() -> None:
        async with running(hotline) as (bot, _, _), call(bot, PingingCaller) as caller:
            await caller.hear(GREETING)
            longest = [max(caller.waits)]
            for question, answer in ((busy.IN_THREAD, busy.SUM), (busy.BLOCKING, busy.ORDERS)):
                began = len(caller.waits)
                await caller.say(question)
                await caller.hear(answer)
                longest.append(max(caller.waits[began:]))
            print("longest wait for a pong: {:.2f} s, {:.2f} s, {:.2f} s".format(*longest))
            assert max(longest[:2]) < 1 and 1 < longest[2] < 4
            assert caller.unanswered < 2
            assert bot.errors() == []

    network.run(calls)


def test_a_machine_answers_a_call_out(hotline: bots.Project) -> None:
    """The bot hangs up, and the dialplan does not go on."""

    async def calls() -> None:
        async with running(hotline) as (bot, services, _):
            headers = AsteriskLine.signature({}, "")
            more = f"/{TOKEN}?call=out&to=201&channel=Local%2F201"
            async with socket_clients.call(
                AsteriskCaller, bot.url, more, headers=headers
            ) as machine:
                await machine.say(MACHINE[0])
                await ends(machine, IS_OVER)
            assert "A machine answered" in bot.log and speech.loudness(machine.sent) == 0
            assert services.requests("openai", "classify")
            assert bot.errors() == []

    network.run(calls)


def test_a_recording_has_the_rate_of_the_line(hotline: bots.Project) -> None:
    async def calls() -> None:
        async with running(hotline, RECORD="always") as (bot, _, _):
            async with call(bot) as caller:
                await caller.hear(GREETING)
            await bot.sessions_end()
            [recording] = (hotline.server / "recordings").glob("*.wav")
            assert int.from_bytes(recording.read_bytes()[24:28], "little") == 16000

    network.run(calls)


def test_bot_py_on_ones_own_machine(hotline: bots.Project) -> None:
    """It needs no password there, and refuses to listen to others without one."""
    (hotline.server / ".env").write_text(
        "".join(f"{k}={v}\n" for k, v in (KEYS | {"COLLEAGUE": "201", "TIME_ZONE": "UTC"}).items())
    )
    options = ("-t", "asterisk", "--host", "0.0.0.0", "--port", "0")
    done = bots.run("uv", "run", "bot.py", *options, cwd=hotline.server, env=bots.plain_env())
    assert done.returncode == 1 and "Set PHONE_TOKEN and ASTERISK_PASSWORD" in done.stderr

    async def calls() -> None:
        access = {"PHONE_TOKEN": "", "ASTERISK_PASSWORD": ""}
        async with running(hotline, "bot.py", **access) as (bot, _, _):
            async with socket_clients.call(AsteriskCaller, bot.url) as caller:
                await caller.hear(GREETING)
            assert "Asterisk connects to" not in bot.log  # said with -t asterisk
            assert bot.errors() == []

    network.run(calls)
