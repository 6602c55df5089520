"""Generated bots of each kind hold a conversation: over a WebSocket, over WebRTC, in real time."""

import asyncio
import re
import wave
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

import bots
import network
import socket_clients
import speech
import webrtc_client
from caller import Caller, until
from conversation import ANSWER, GREETING, KEYS, QUESTION, stand_ins
from phones import TwilioCaller
from realtime import LiveOpenAI, RealtimeOpenAI
from services import OpenAI, Refusing
from socket_clients import WebSocketCaller
from stand_ins import Reply
from standins import Service, StandIns, own_server

CASCADE = ["-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia"]
REALTIME = ["-m", "realtime", "--realtime", "openai"]
TWILIO = {"TWILIO_ACCOUNT_SID": TwilioCaller.account, "TWILIO_AUTH_TOKEN": "a-twilio-token"}
RECORDED = "This call is being recorded."


@pytest.fixture(scope="module")
def socketed(vbot: Path) -> bots.Project:
    return bots.installed(vbot, "socketed", "-t", "websocket", *CASCADE, "--enable-noise-cancel")


@pytest.fixture(scope="module")
def realtime(vbot: Path) -> bots.Project:
    project = bots.installed(vbot, "realtime", "-t", "smallwebrtc", *REALTIME, "--transcription")
    project.write_env(OPENAI_API_KEY=KEYS["OPENAI_API_KEY"])
    return project


async def holds_a_conversation(caller: Caller, services: StandIns, *first: str) -> None:
    """The bot says what comes first, and greets; the person asks; the bot answers. That is all."""
    await caller.hear(GREETING)
    await caller.say(QUESTION)
    await caller.hear(ANSWER)
    heard = [asked["heard"] for asked in services.requests("deepgram", "finalize")]
    assert [words for words in heard if words] == [QUESTION]
    spoken = [said["transcript"].strip() for said in services.requests("cartesia", "speak")]
    assert spoken == [*first, GREETING, ANSWER]


def test_a_person_talks_with_the_bot_over_a_websocket(socketed: bots.Project) -> None:
    """And without the noise-cancelling SDK, which nobody can install from PyPI."""
    socketed.write_env(**KEYS)

    async def conversation() -> None:
        async with stand_ins() as services, socketed.bot(services.env) as bot:
            async with socket_clients.call(WebSocketCaller, bot.url) as caller:
                await caller.ready()
                await holds_a_conversation(caller, services)
                await caller.receive("user-transcription", lambda data: data["text"] == QUESTION)
            assert services.names_asked() == services.hosts
            said = [line for line in bot.log.splitlines() if "krisp" in line.lower()]
            assert len(said) == 1
            assert "Noise cancelling is off: the krisp_audio SDK is not installed here." in said[0]
            assert bot.errors() == []

    network.run(conversation)


async def follow(url: str, events: list[bytes]) -> None:
    """What Whisker's user interface does: connect, and take in what comes."""
    async with aiohttp.ClientSession() as http, http.ws_connect(url) as ws:
        async for message in ws:
            events.append(message.data)


class Collector(Service):
    """A collector that receives traces over OTLP."""

    name = "collector"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.expect(request.path == "/v1/traces", f"no such path: {request.path}")
        self.note("traces", body=await request.read())
        return web.Response()

    def has(self, name: bytes) -> bool:
        return any(name in data["body"] for _, data in self.notes)


def test_a_conversation_is_recorded_logged_traced_and_followed(vbot: Path) -> None:
    """A second, simultaneous session runs without Whisker, which shows only one."""
    options = ["--recording", "--transcription", "--observability"]
    project = bots.installed(vbot, "watched", "-t", "smallwebrtc", *CASCADE, *options)

    async def conversation() -> None:
        events: list[bytes] = []
        traces = Collector()
        async with own_server(traces) as address, stand_ins() as services:
            endpoint = address.removesuffix("/v1")
            project.write_env(**KEYS, OTEL_EXPORTER_OTLP_ENDPOINT=endpoint)
            often = {"OTEL_BSP_SCHEDULE_DELAY": "200"}  # in milliseconds
            async with project.bot(services.env | often) as bot:
                async with webrtc_client.call(bot.url) as caller:
                    await caller.ready()
                    following = asyncio.create_task(follow("http://localhost:9090", events))
                    await holds_a_conversation(caller, services, RECORDED)
                    following.cancel()
                await until(lambda: "Recording: " in bot.log, 10)
                said = re.findall(r"Transcript [0-9a-f-]{36}: (\w+: .*)", bot.log)
                async with webrtc_client.call(bot.url) as first:
                    await first.ready()
                    await first.hear(GREETING)
                    async with webrtc_client.call(bot.url) as second:
                        await second.ready()
                        await second.hear(GREETING)
                await bot.sessions_end()
                await until(lambda: traces.has(b"conversation"), 10)
                assert bot.errors() == []

        for name in (b"conversation", b"turn", b"stt", b"llm", b"tts"):
            assert traces.has(name), name
        assert said == [f"bot: {GREETING!r}", f"user: {QUESTION!r}", f"bot: {ANSWER!r}"]
        recording, *_ = sorted((project.server / "recordings").iterdir())
        with wave.open(str(recording)) as wav:
            assert (wav.getnchannels(), wav.getsampwidth()) == (1, 2)
            sound, rate = wav.readframes(wav.getnframes()), wav.getframerate()
        assert speech.hear(sound, rate, [ANSWER, QUESTION, GREETING]) == [
            GREETING,
            QUESTION,
            ANSWER,
        ]
        for frame in (b"TranscriptionFrame", b"LLMTextFrame", b"TTSTextFrame"):
            assert any(frame in event for event in events)

    network.run(conversation)


@pytest.mark.alone  # beside a client in a browser, it leaves gaps in what it says
def test_a_person_talks_with_a_realtime_bot(realtime: bots.Project) -> None:
    async def conversation() -> None:
        service = RealtimeOpenAI(KEYS["OPENAI_API_KEY"], GREETING, {QUESTION: ANSWER})
        async with StandIns(service) as services, realtime.bot(services.env) as bot:
            async with webrtc_client.call(bot.url) as caller:
                await caller.ready()
                await caller.hear(GREETING)
                await caller.say(QUESTION)
                await caller.hear(ANSWER)
                await caller.receive("user-transcription", lambda data: data["text"] == QUESTION)
            assert bot.errors() == []
            assert services.names_asked() == services.hosts
            session = services.requests("realtime", "session.update")[-1]["session"]
            assert "friendly assistant" in session["instructions"]
            assert session["audio"]["input"]["turn_detection"] == {"type": "semantic_vad"}
            assert services.requests("realtime", "heard") == [{"text": QUESTION}]
            said = re.findall(r"Transcript [0-9a-f-]{36}: (\w+: .*)", bot.log)
            assert said == [f"bot: {GREETING!r}", f"user: {QUESTION!r}", f"bot: {ANSWER!r}"]

    network.run(conversation)


def test_a_person_interrupts_a_realtime_bot(realtime: bots.Project) -> None:
    """The model alone judges that: the bot has no detector of its own."""
    story = " ".join([GREETING, *["This is a long story, and nobody asked for it."] * 5])
    length = len(speech.speak(story, speech.EAR_RATE)) / 2 / speech.EAR_RATE

    async def conversation() -> None:
        service = RealtimeOpenAI(KEYS["OPENAI_API_KEY"], story, {QUESTION: ANSWER})
        async with StandIns(service) as services, realtime.bot(services.env) as bot:
            async with webrtc_client.call(bot.url) as caller:
                await caller.ready()
                await caller.receive("bot-started-speaking")
                started = asyncio.get_running_loop().time()
                await asyncio.sleep(1)
                await caller.say(QUESTION)
                await caller.hear(ANSWER)
                # The answer comes while the story would still go on.
                assert asyncio.get_running_loop().time() - started < length - 2
                await caller.receive("user-transcription", lambda data: data["text"] == QUESTION)
            kinds = [message.get("type") for message in caller.messages]
            turn = ["user-started-speaking", "bot-stopped-speaking", "user-stopped-speaking"]
            assert [kind for kind in kinds if kind in turn][:3] == turn
            assert len(services.requests("realtime", "conversation.item.truncate")) == 1
            assert "Silero" not in bot.log
            assert bot.errors() == []

    network.run(conversation)


def test_a_person_talks_with_a_live_bot(vbot: Path) -> None:
    """Its model listens and speaks at the same time, from when it is first given a context."""
    options = ["-m", "realtime", "--realtime", "openai_live", "--transcription"]
    project = bots.installed(vbot, "live", "-t", "websocket", *options)
    key = KEYS["OPENAI_API_KEY"]
    project.write_env(OPENAI_API_KEY=key)

    async def conversation() -> None:
        service = LiveOpenAI(key, GREETING, {QUESTION: ANSWER})
        async with StandIns(service) as services, project.bot(services.env) as bot:
            async with socket_clients.call(WebSocketCaller, bot.url) as caller:
                await caller.ready()
                await caller.hear(GREETING)
                await caller.say(QUESTION)
                await caller.hear(ANSWER)
            assert bot.errors() == []
            assert services.names_asked() == services.hosts
            [start] = services.requests("live", "session.start")
            assert "friendly assistant" in start["session"]["instructions"]
            assert start["session"]["delegation"]["responses"]["model"] == "gpt-4.1"
            assert services.requests("live", "heard") == [{"text": QUESTION}]
            said = re.findall(r"Transcript [0-9a-f-]{36}: (\w+: .*)", bot.log)
            assert said == [f"bot: {GREETING!r}", f"user: {QUESTION!r}", f"bot: {ANSWER!r}"]

    network.run(conversation)


# Each service that fails says so itself, then the pipeline, and then the bot, for people to read.
REFUSED = {
    label: [
        re.compile(rf"push_error_frame:\d+ - {name}#\d .*\b401\b"),
        re.compile(rf"PipelineWorker#\d: {name}#\d can no longer do its job"),
        re.compile(rf"vbot\.monitor:.* - {label} refused the key\. Check {label.upper()}_API_"),
    ]
    for label, name in (
        ("Deepgram", "DeepgramSTTService"),
        ("OpenAI", "OpenAILLMService"),
        ("Cartesia", "CartesiaTTSService"),
    )
}


def assert_only_refusals(bot: bots.Bot, labels: tuple[str, ...], sessions: int) -> None:
    """Each of these services is named once in each session, and the log has no other error."""
    patterns = [pattern for label in labels for pattern in REFUSED[label]]
    for pattern in patterns:
        assert sum(bool(pattern.search(line)) for line in bot.errors()) == sessions, pattern
    assert [e for e in bot.errors() if not any(p.search(e) for p in patterns)] == []
    assert not any(key in bot.log for key in KEYS.values())


def test_a_bot_whose_services_refuse_it_says_so(socketed: bots.Project) -> None:
    """It waits for the page, so that a page that connects late is told, too."""
    socketed.write_env(**KEYS)

    async def conversation() -> None:
        refusing = [Refusing("deepgram"), Refusing("cartesia")]
        thinking = OpenAI(KEYS["OPENAI_API_KEY"], GREETING, {})
        async with StandIns(*refusing, thinking) as services:
            async with socketed.bot(services.env) as bot:
                async with socket_clients.call(WebSocketCaller, bot.url) as caller:
                    await until(lambda: bot.log.count("refused the key") == 2, 20)
                    await asyncio.sleep(1)
                    assert not caller.ws.closed
                    await caller.ready()
                    told = await caller.receive("error", lambda data: data["fatal"])
                    said = re.findall(r"(\w+) refused the key\. Check (\w+) in", told["error"])
                    keys = ["CARTESIA_API_KEY", "DEEPGRAM_API_KEY"]
                    assert sorted(said) == list(zip(("Cartesia", "Deepgram"), keys, strict=True))
                    await caller.left_alone()
                await bot.sessions_end()
                assert_only_refusals(bot, ("Deepgram", "Cartesia"), sessions=1)

    network.run(conversation)


class Vanishing(RealtimeOpenAI):
    """It greets, and then the connection breaks."""

    async def _respond(self, ws: web.WebSocketResponse, session: Any, reply: Reply) -> None:
        await super()._respond(ws, session, reply)
        await ws.close()


def test_a_realtime_bot_that_loses_its_model_does_not_stay(realtime: bots.Project) -> None:
    """Otherwise the framework would report each piece of audio that it cannot send."""

    async def conversation() -> None:
        service = Vanishing(KEYS["OPENAI_API_KEY"], GREETING, {})
        async with StandIns(service) as services, realtime.bot(services.env) as bot:
            async with webrtc_client.call(bot.url) as caller:
                await caller.ready()
                told = await caller.receive("error", lambda data: data["fatal"])
                assert "OpenAI Realtime does not work. Check OPENAI_API_KEY in" in told["error"]
                await bot.sessions_end()
            assert bot.log.count("- OpenAI Realtime does not work.") == 1

    network.run(conversation)


# Services that refuse a key, and the framework has no word for it but in the log.
QUIET = {
    "HeyGen": ("heygen", [*CASCADE, "--video", "heygen"], "HEYGEN_API_KEY"),
    "Gemini Live": ("gemini", ["-m", "realtime", "--realtime", "gemini_live"], "GOOGLE_API_KEY"),
}


@pytest.mark.parametrize("label", QUIET)
def test_a_service_that_never_starts_is_missed(vbot: Path, label: str, figures: list[str]) -> None:
    refusing, options, variable = QUIET[label]
    project = bots.installed(vbot, f"quiet-{refusing}", "-t", "smallwebrtc", *options)
    keys = KEYS | {variable: "a-wrong-key", "HEYGEN_AVATAR_ID": "an-avatar"}
    known = (project.server / ".env.example").read_text()
    project.write_env(**{name: key for name, key in keys.items() if name in known})

    async def conversation() -> None:
        services = stand_ins(more=[Refusing(refusing)])
        async with services, project.bot(services.env) as bot:
            async with webrtc_client.call(bot.url) as caller:
                await caller.ready()
                began = asyncio.get_running_loop().time()
                told = await caller.receive("server-message", lambda m: "problem" in m, timeout=40)
                seconds = asyncio.get_running_loop().time() - began
                figures.append(f"{seconds:.1f} s until {label}, which never starts, is missed")
                assert re.match(rf"{label} .*\. Check {variable} in server/\.env", told["problem"])
            await bot.sessions_end()
            assert bot.log.count(f"- {told['problem']}") == 1
            assert "a-wrong-key" not in bot.log

    network.run(conversation)
