"""A call that goes wrong reaches a person at FALLBACK_NUMBER. The bot is behind HAProxy.

The stand-ins of carriers in exchange.py execute the XML that they get.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import bots
import network
from conversation import ANSWER, GREETING, KEYS, QUESTION
from exchange import Exchange, PlivoExchange, TelnyxExchange, TwilioExchange
from phones import PhoneCaller, TwilioCaller
from proxies import ROUTER, router
from services import Cartesia, Deepgram, OpenAI
from standins import StandIns
from telephony import signature
from test_self_host import plivo_signature

CASCADE = ["-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia"]
TOKEN, PERSON = "a-long-token-of-calls", "+15557650000"
CALLER = {"From": "+15551234567", "To": "+15557654321"}
TWILIO, TELNYX, PLIVO = "a-twilio-token", "a-telnyx-key", ("a-plivo-id", "a-plivo-token")
ENV = {
    "TWILIO_ACCOUNT_SID": TwilioCaller.account,
    "TWILIO_AUTH_TOKEN": TWILIO,
    "TELNYX_API_KEY": TELNYX,
    "PLIVO_AUTH_ID": PLIVO[0],
    "PLIVO_AUTH_TOKEN": PLIVO[1],
    "PHONE_TOKEN": TOKEN,
    "BOT_PUBLIC_URL": ROUTER,
}
SENTENCES = {
    "en-US": (
        "Sorry, I cannot help you right now. I am connecting you to a colleague.",
        "Nobody can take your call right now. Please call again later.",
        "All lines are busy right now. Please call again later.",
    )
}
CONNECTING, NOBODY, BUSY = SENTENCES["en-US"]


@pytest.fixture(scope="module")
def project(vbot: Path) -> bots.Project:
    carriers = ("-t", "twilio", "-t", "telnyx", "-t", "plivo")
    project = bots.installed(vbot, "fallback", *carriers, *CASCADE, "--self-host")
    project.write_env(**KEYS, **ENV, FALLBACK_NUMBER=PERSON)
    return project


@contextlib.asynccontextmanager
async def served(
    project: bots.Project, *services: Any, **env: str
) -> AsyncIterator[tuple[bots.Bot, StandIns]]:
    """self_host.py behind HAProxy, as Compose has them."""
    async with StandIns(*services) as stand_ins, contextlib.AsyncExitStack() as stack:
        bot = await stack.enter_async_context(
            bots.running(
                *(project.server / ".venv/bin/python", "self_host.py"),
                cwd=project.server,
                env=bots.plain_env() | stand_ins.env | {"LOG_LEVEL": "DEBUG"} | env,
                port=7860,
                path="/ready",
                name="fallback",
            )
        )
        where = {"BOT": "127.0.0.1:7860", "ROUTER_HOST": "127.0.0.1"}
        up = "http://127.0.0.1:8404/healthz"
        await stack.enter_async_context(router(project, "fallback-haproxy", url=up, **where))
        async with aiohttp.ClientSession() as http, asyncio.timeout(20):
            while True:  # until it has found the bot
                async with http.post(f"{ROUTER}/telnyx/a-wrong-token") as response:
                    if response.status == 403:
                        break
                await asyncio.sleep(0.2)
        yield bot, stand_ins


def healthy() -> list[Any]:
    return [
        Deepgram(KEYS["DEEPGRAM_API_KEY"], [QUESTION, GREETING, ANSWER, CONNECTING]),
        OpenAI(KEYS["OPENAI_API_KEY"], GREETING, {QUESTION: ANSWER}),
        Cartesia(KEYS["CARTESIA_API_KEY"]),
    ]


async def rings(carrier: Exchange) -> str | None:
    """What the webhook of the carrier's number answers to a call."""
    if isinstance(carrier, TwilioExchange):
        url = f"{ROUTER}/twilio/{TOKEN}"
        headers = {"X-Twilio-Signature": signature(TWILIO, url, CALLER)}
        return await carrier.request(url, CALLER, headers)
    if isinstance(carrier, PlivoExchange):
        url, nonce = f"{ROUTER}/plivo", "1"
        signed = plivo_signature(url, CALLER, nonce)
        headers = {"X-Plivo-Signature-V3-Nonce": nonce, "X-Plivo-Signature-V3": signed}
        return await carrier.request(url, CALLER, headers)
    return await carrier.request(f"{ROUTER}/telnyx/{TOKEN}", CALLER, {})


EXCHANGES: list[Callable[..., Exchange]] = [
    lambda **more: TwilioExchange(TWILIO, **more),
    lambda **more: TelnyxExchange(TELNYX, **more),
    lambda **more: PlivoExchange(*PLIVO, **more),
]
EVERYWHERE = pytest.mark.parametrize("carrier", EXCHANGES, ids=["twilio", "telnyx", "plivo"])


async def until_closed(caller: PhoneCaller) -> None:
    await caller.left_alone(40)


async def nothing(caller: PhoneCaller) -> None:
    raise AssertionError("the bot took the call")


@EVERYWHERE
def test_a_full_bot(project: bots.Project, carrier: Callable[..., Exchange]) -> None:
    """The second caller of a bot for one is connected, and the first is not disturbed."""
    first, second = carrier(), carrier()

    async def calls() -> None:
        async with served(project, *healthy(), first, MAX_SESSIONS="1"):
            is_in, may_go = asyncio.Event(), asyncio.Event()

            async def stays(caller: PhoneCaller) -> None:
                await caller.hear(GREETING)
                is_in.set()
                await may_go.wait()
                await caller.say(QUESTION)
                await caller.hear(ANSWER)

            talking = asyncio.create_task(first.call(await rings(first), stays))
            await asyncio.wait_for(is_in.wait(), 30)
            heard = await second.call(await rings(second), nothing)
            assert heard == [f"dial {PERSON}", "hang up"]
            may_go.set()
            await talking

    network.run(calls)


@EVERYWHERE
def test_a_stopping_bot_and_nobody_at_the_number(
    project: bots.Project, carrier: Callable[..., Exchange]
) -> None:
    first, second = carrier(), carrier(answers=False)

    async def calls() -> None:
        async with served(project, *healthy(), first) as (bot, _):

            async def stays(caller: PhoneCaller) -> None:
                await caller.hear(GREETING)
                os.kill(bot.process.pid, signal.SIGTERM)
                await asyncio.sleep(1)
                xml = await rings(second)
                otherwise = (
                    f'<Response><Dial timeout="25"><Number>{PERSON}</Number></Dial></Response>'
                )
                heard = await second.call(xml, nothing, otherwise)
                said = [f"say en-US: {NOBODY}"] if xml else []
                assert heard == [f"dial {PERSON}", *said, "hang up"]

            await first.call(await rings(first), stays)

    network.run(calls)


@EVERYWHERE
def test_a_model_that_is_down(project: bots.Project, carrier: Callable[..., Exchange]) -> None:
    """The caller hears that they will be connected, and then are."""
    exchange = carrier()
    ear = Deepgram(KEYS["DEEPGRAM_API_KEY"], [QUESTION, GREETING, ANSWER, CONNECTING])
    model = OpenAI(KEYS["OPENAI_API_KEY"], GREETING, {})
    voice = Cartesia(KEYS["CARTESIA_API_KEY"])
    model.failing = 401

    async def calls() -> None:
        async with served(project, ear, model, voice, exchange):

            async def waits(caller: PhoneCaller) -> None:
                await caller.hear(CONNECTING)
                await until_closed(caller)

            heard = await exchange.call(await rings(exchange), waits)
            assert heard == ["bot", f"dial {PERSON}", "hang up"]

    network.run(calls)


def test_a_model_that_is_out_of_order(project: bots.Project) -> None:
    """It may work again, so the caller is asked to try once more."""
    exchange, apology = EXCHANGES[0](), "Sorry, I cannot answer right now. Please try again."
    ear = Deepgram(KEYS["DEEPGRAM_API_KEY"], [QUESTION, GREETING, apology, CONNECTING])
    model = OpenAI(KEYS["OPENAI_API_KEY"], GREETING, {})
    model.failing = 503

    async def calls() -> None:
        async with served(project, ear, model, Cartesia(KEYS["CARTESIA_API_KEY"]), exchange):

            async def tries(caller: PhoneCaller) -> None:
                await caller.hear(apology)
                await caller.say(QUESTION)
                await caller.hear(CONNECTING)
                await until_closed(caller)

            heard = await exchange.call(await rings(exchange), tries)
            assert heard == ["bot", f"dial {PERSON}", "hang up"]

    network.run(calls)


def test_a_voice_that_dies(project: bots.Project) -> None:
    """The bot can no longer speak, so the caller is connected without an announcement."""
    exchange, voice = EXCHANGES[0](), Cartesia(KEYS["CARTESIA_API_KEY"])
    voice.failing = 401

    async def calls() -> None:
        async with served(project, *healthy()[:2], voice, exchange):
            heard = await exchange.call(await rings(exchange), until_closed)
            assert heard == ["bot", f"dial {PERSON}", "hang up"]

    network.run(calls)


@EVERYWHERE
def test_a_session_at_its_limit(project: bots.Project, carrier: Callable[..., Exchange]) -> None:
    exchange = carrier()

    async def calls() -> None:
        async with served(project, *healthy(), exchange, MAX_SESSION_SECONDS="28"):

            async def stays(caller: PhoneCaller) -> None:
                await caller.hear(GREETING)
                await caller.hear(CONNECTING)
                await until_closed(caller)

            heard = await exchange.call(await rings(exchange), stays)
            assert heard == ["bot", f"dial {PERSON}", "hang up"]

    network.run(calls)


def test_a_bot_that_crashes(project: bots.Project) -> None:
    """The carrier goes on with what it was told at first."""
    exchange = EXCHANGES[0]()

    async def calls() -> None:
        async with served(project, *healthy(), exchange) as (bot, _):

            async def stays(caller: PhoneCaller) -> None:
                await caller.hear(GREETING)
                await bot.die()
                await until_closed(caller)

            heard = await exchange.call(await rings(exchange), stays)
            assert heard == ["bot", f"dial {PERSON}", "hang up"]
            assert await rings(EXCHANGES[0]()) is None  # then the number's fallback counts

    network.run(calls)


def test_twilio_refuses(project: bots.Project) -> None:
    """Then the caller hears the apology, and the call ends."""
    exchange = TwilioExchange(TWILIO, status=500)
    apology = "Sorry, I cannot answer right now. Please try again."
    ear = Deepgram(KEYS["DEEPGRAM_API_KEY"], [QUESTION, GREETING, ANSWER, CONNECTING, apology])
    model = OpenAI(KEYS["OPENAI_API_KEY"], GREETING, {})
    model.failing = 401

    async def calls() -> None:
        async with served(project, ear, model, Cartesia(KEYS["CARTESIA_API_KEY"]), exchange):

            async def waits(caller: PhoneCaller) -> None:
                await caller.hear(CONNECTING)
                await caller.hear(apology)
                await until_closed(caller)

            await exchange.call(await rings(exchange), waits)
            [(_, asked), (_, ended)] = exchange.notes
            assert PERSON in asked["Twiml"] and ended == {"Status": "completed"}

    network.run(calls)


def test_without_a_number(project: bots.Project) -> None:
    """A full bot says so. The model is told who calls, and when."""
    first, second = EXCHANGES[0](), EXCHANGES[0]()

    async def calls() -> None:
        none = {"FALLBACK_NUMBER": "", "MAX_SESSIONS": "1", "TIME_ZONE": "Asia/Tokyo"}
        async with served(project, *healthy(), first, **none) as (_, services):

            async def stays(caller: PhoneCaller) -> None:
                await caller.hear(GREETING)
                heard = await second.call(await rings(second), nothing)
                assert heard == [f"say en-US: {BUSY}", "hang up"]

            await first.call(await rings(first), stays)
            told = str(services.requests("openai", "chat")[0]["messages"][0])
            assert "Asia/Tokyo" in told
            assert CALLER["From"] in told and CALLER["To"] in told

    text = (project.server / ".env").read_text()
    (project.server / ".env").write_text(text.replace(f"FALLBACK_NUMBER={PERSON}", ""))
    try:
        network.run(calls)
    finally:
        (project.server / ".env").write_text(text)
