"""A service that fails, hangs or is silent is named, and no other is. The person is told.

In each test, two people call from a browser and two by telephone: one of each before the service
fails, one after that.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import bots
import editing
import faults
import network
import socket_clients
import speech
import standins
import webrtc_client
from caller import Caller, until
from conversation import ANSWER, GREETING, KEYS, QUESTION
from phones import TwilioCaller
from standins import StandIns
from test_bots import CASCADE, TWILIO
from webrtc_client import WebRTCCaller

# Seconds until a person knows, and until their turn has ended and the apology is recognized.
LIMIT, TURN = 25, 3
APOLOGY = "Sorry, I cannot answer right now"

# What may happen to whom, and whether a session goes on once it is over.
CORE = [("Deepgram", "hangs", False), ("OpenAI", "stalls", True), ("Cartesia", "stops", False)]
MORE = [
    ("Deepgram", "is gone", False),
    ("Deepgram", "is silent", True),
    ("Deepgram", "dies", False),
    ("OpenAI", "is gone", True),
    ("OpenAI", "hangs", True),
    ("OpenAI", "refuses", False),
    ("OpenAI", "dies", True),
    ("Cartesia", "is gone", False),
    ("Cartesia", "hangs", False),
    ("Cartesia", "is silent", False),
    ("Cartesia", "dies", False),
]


@pytest.fixture(scope="module")
def project(vbot: Path) -> bots.Project:
    project = bots.installed(vbot, "faulty", "-t", "twilio", "-t", "smallwebrtc", *CASCADE)
    project.write_env(**KEYS, **TWILIO)
    return project


class Telephone(TwilioCaller):
    async def apologized_to(self, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        while not self.sent or not await asyncio.to_thread(
            speech.hear, bytes(self.sent), self.rate, [APOLOGY]
        ):
            assert time.monotonic() < deadline, f"no apology within {timeout:g} s"
            await asyncio.sleep(1)


@asynccontextmanager
async def two_calls(bot: bots.Bot) -> AsyncIterator[tuple[WebRTCCaller, Telephone]]:
    async with (
        webrtc_client.call(bot.url) as page,
        socket_clients.call(Telephone, bot.url) as phone,
    ):
        yield page, phone


def told(bot: bots.Bot) -> list[str]:
    """The monitor's lines in the log."""
    return re.findall(r"ERROR +\| vbot\.monitor:\w+:\d+ - (.*)", bot.log)


@pytest.mark.parametrize(
    "label, mode, passes",
    [*CORE, *(pytest.param(*row) for row in MORE)],
    ids=lambda value: str(value),
)
def test_a_fault_is_told(
    project: bots.Project, label: str, mode: str, passes: bool, figures: list[str]
) -> None:
    async def conversation() -> None:
        trio = faults.services()
        [faulty] = [service for service in trio if service.name == label.lower()]
        twilio = faults.BusyTwilio(TwilioCaller.account, TWILIO["TWILIO_AUTH_TOKEN"])

        def said(sentence: str) -> int:
            """How many people have been told this."""
            asked = services.requests("cartesia", "speak")
            return sum(sentence in request["transcript"] for request in asked)

        async with StandIns(*trio, twilio) as services, project.bot(services.env) as bot:
            async with two_calls(bot) as (page, phone):
                await page.ready()
                await until(lambda: said(GREETING) == 2, 20)
                await asyncio.sleep(4)  # it is heard
                faulty.turn(mode)

                async def is_told(caller: Caller, late: bool) -> str:
                    """How many seconds it took until this person knows."""
                    if late and isinstance(caller, WebRTCCaller):
                        await caller.ready()
                    if late and label == "Deepgram" and mode in ("is silent", "dies"):
                        await asyncio.sleep(4)
                    began, left = time.monotonic(), LIMIT + TURN
                    if not late or label == "Deepgram":
                        caller.pcm += (pcm := speech.speak(QUESTION, caller.rate))
                        left += len(pcm) / 2 / caller.rate
                    if not isinstance(caller, Telephone):
                        words = re.compile(
                            rf"{label} .*\. Check {label.upper()}_API_KEY in server/"
                        )
                        await until(lambda: any(words.search(t) for t in told_on(caller)), left)
                        assert any(words.search(t) for t in told_on(caller)), caller.messages
                    elif label == "Cartesia":
                        await caller.left_alone(left)
                    else:
                        await caller.apologized_to(left)
                    return f"{time.monotonic() - began:.1f} s"

                async with two_calls(bot) as (late_page, late_phone):
                    seconds = await asyncio.gather(
                        *(is_told(caller, late=False) for caller in (page, phone)),
                        *(is_told(caller, late=True) for caller in (late_page, late_phone)),
                    )
                    figures.append(f"{label} {mode}: {', '.join(seconds)} until this is told")
                    assert all(line.startswith(f"{label} ") for line in told(bot)), told(bot)
                    assert not any(key in bot.log for key in KEYS.values())
                    if passes:
                        faulty.turn("")
                        before = said(ANSWER)
                        for caller in (page, phone, late_page, late_phone):
                            caller.pcm += speech.speak(QUESTION, caller.rate)
                        await until(lambda: said(ANSWER) == before + 4, 20)
                        assert said(ANSWER) == before + 4
                    else:
                        await late_phone.left_alone(LIMIT + TURN)
                        phone.over = True

    network.run(conversation)


@pytest.fixture(scope="module")
def realtime(vbot: Path) -> bots.Project:
    options = ["-t", "twilio", "-t", "smallwebrtc", "-m", "realtime", "--realtime", "openai"]
    project = bots.installed(vbot, "faulty-realtime", *options)
    project.write_env(OPENAI_API_KEY=KEYS["OPENAI_API_KEY"], **TWILIO)
    return project


@pytest.mark.parametrize(
    "mode",
    [
        "is silent",
        *(pytest.param(m) for m in ("is gone", "hangs", "stops")),
    ],
)
def test_a_fault_of_a_realtime_model_is_told(
    realtime: bots.Project, mode: str, figures: list[str]
) -> None:
    async def conversation() -> None:
        model = faults.FaultyRealtime(KEYS["OPENAI_API_KEY"], GREETING, {QUESTION: ANSWER})
        model.turn(mode)
        twilio = faults.BusyTwilio(TwilioCaller.account, TWILIO["TWILIO_AUTH_TOKEN"])
        async with StandIns(model, twilio) as services, realtime.bot(services.env) as bot:
            async with two_calls(bot) as (page, phone):
                await page.ready()
                began = time.monotonic()
                await until(lambda: bool(told_on(page)), LIMIT)
                [problem, *_] = told_on(page)
                seconds = time.monotonic() - began
                await phone.left_alone(LIMIT - seconds)
                hung_up = time.monotonic() - began
            assert re.match(r"OpenAI Realtime .*\. Check OPENAI_API_KEY in server/", problem)
            assert told(bot) == [problem] * 2
            figures.append(f"OpenAI Realtime {mode}: {seconds:.1f} s, {hung_up:.1f} s")

    network.run(conversation)


# What says where a service is, what of it comes before and after HOST:PORT, and the seconds until
# a page and a caller know that nothing listens there.
ADDRESSES = {
    "Deepgram": ("DEEPGRAM_STT_BASE_URL", "ws://", "", 11, 15),
    "OpenAI": ("OPENAI_BASE_URL", "http://", "/v1", 5, 9),
    "Cartesia": ("CARTESIA_TTS_BASE_URL", "ws://", "/tts/websocket", 8, 13),
    "OpenAI Realtime": ("OPENAI_REALTIME_BASE_URL", "ws://", "/v1/realtime", 8, 9),
}


def at(label: str, port: int) -> dict[str, str]:
    name, before, after, *_ = ADDRESSES[label]
    return {name: f"{before}127.0.0.1:{port}{after}"}


@pytest.mark.parametrize("label", ADDRESSES)
def test_nothing_listens_at_an_address(
    project: bots.Project, realtime: bots.Project, label: str, figures: list[str]
) -> None:
    """The log, the page and the caller are told within seconds."""
    bot_of = realtime if label == "OpenAI Realtime" else project
    *_, page_knows, caller_knows = ADDRESSES[label]

    async def conversation() -> None:
        trio = () if bot_of is realtime else faults.services()
        others = [service for service in trio if service.name != label.lower()]
        twilio = faults.BusyTwilio(TwilioCaller.account, TWILIO["TWILIO_AUTH_TOKEN"])
        async with (
            StandIns(*others, twilio) as services,
            bot_of.bot(services.env | at(label, bots.free_port())) as bot,
        ):
            began = time.monotonic()
            async with two_calls(bot) as (page, phone):
                await page.ready()
                await until(lambda: bool(told_on(page)), page_knows)
                [problem, *_] = told_on(page)
                assert problem == (
                    f"{label} cannot be reached. "
                    "Check its address in server/.env, the network and the log."
                )
                page_knew = time.monotonic() - began
                if label == "OpenAI":
                    await phone.apologized_to(caller_knows)
                else:
                    await phone.left_alone(caller_knows)
                assert set(told(bot)) == {problem}
                took = time.monotonic() - began
                figures.append(f"{label} is not there: {page_knew:.1f} s, {took:.1f} s")
                phone.over = True

    network.run(conversation)


@pytest.mark.parametrize("label", ["Deepgram", "OpenAI", "Cartesia"])
def test_a_service_that_is_started_again_goes_on(project: bots.Project, label: str) -> None:
    """Its address refused a connection meanwhile."""

    async def conversation() -> None:
        trio = faults.services()
        [faulty] = [service for service in trio if service.name == label.lower()]
        twilio = faults.BusyTwilio(TwilioCaller.account, TWILIO["TWILIO_AUTH_TOKEN"])
        port = bots.free_port()

        def said(sentence: str) -> int:
            asked = [data for kind, data in trio[2].asked() if kind == "speak"]
            return sum(sentence in request["transcript"] for request in asked)

        async with (
            StandIns(*(one for one in trio if one is not faulty), twilio) as services,
            project.bot(services.env | at(label, port)) as bot,
            two_calls(bot) as callers,
        ):
            ready = asyncio.create_task(callers[0].ready())
            noticed = {
                "Deepgram": r"connection error: .*Connection refused",  # once by each
                "OpenAI": r"vbot\.monitor:_report",
                "Cartesia": r"vbot\.monitor:_note",
            }[label]
            await until(lambda: len(re.findall(noticed, bot.log)) >= 2, 10)
            async with standins.own_server(faulty, port):
                await ready  # Deepgram's attempts hold the pipeline back
                await until(lambda: said(GREETING if label == "Deepgram" else APOLOGY) == 2, 15)
                await asyncio.sleep(6)  # it is heard; all have connected again
                for caller in callers:
                    caller.pcm += speech.speak(QUESTION, caller.rate)
                await until(lambda: said(ANSWER) == 2, 20)
                assert said(ANSWER) == 2, bot.log
                lines = [] if label == "Deepgram" else [f"{label} cannot be reached"] * 2
                assert [line.partition(". Check")[0] for line in told(bot)] == lines
                assert said(APOLOGY) == len(lines)
                callers[1].over = True

    network.run(conversation)


STORY = ["This is a long story, and it goes on for a while."] * 7


def told_on(page: Caller) -> list[str]:
    """What the page was told: that a service failed, or why the session ends."""
    found = [(m.get("type"), m.get("data") or {}) for m in page.messages]
    messages = [data for kind, data in found if kind == "server-message"]
    problems = [data["problem"] for data in messages if "problem" in data]
    return problems + [data["error"] for kind, data in found if kind == "error" and data["fatal"]]


TOOL = '''
async def look(params):
    """Look out of the window."""
    import asyncio

    await asyncio.sleep(10)
    await params.result_callback("rain")
'''


def test_patience_is_no_fault(project: bots.Project) -> None:
    """A person may be silent, a model think, a voice speak for long, and a tool take its time."""
    code = (project.server / "bot.py").read_text()
    tool = editing.replaced(code, ("        vbot.hang_up,\n", "        look,\n"))
    (project.server / "patient.py").write_text(editing.above(tool, "def build(", TOOL))
    long = len(speech.speak(" ".join(STORY), 8000)) / 16000
    assert 18 < long < 25, f"{long:.0f} s"

    async def conversation() -> None:
        trio = faults.services({QUESTION: " ".join(STORY)})
        twilio = faults.BusyTwilio(TwilioCaller.account, TWILIO["TWILIO_AUTH_TOKEN"])
        async with (
            StandIns(*trio, twilio) as services,
            project.bot(services.env, script="patient.py") as bot,
            two_calls(bot) as callers,
        ):

            def said() -> list[str]:
                asked = services.requests("cartesia", "speak")
                return [request["transcript"].strip() for request in asked]

            async def ask(mode: str, last: str, times: int, seconds: float) -> None:
                trio[1].turn(mode)
                for caller in callers:
                    caller.pcm += speech.speak(QUESTION, caller.rate)
                await until(lambda: said().count(last) == times, 30)
                assert said().count(last) == times, said()
                await asyncio.sleep(seconds)

            await callers[0].ready()
            await asyncio.sleep(20)
            await ask("thinks", STORY[0], 2 * len(STORY), long + 2)
            await ask("looks", ANSWER, 2, 12)
            assert told(bot) == []
            assert bot.errors() == []

    network.run(conversation)
