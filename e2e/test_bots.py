"""Generated bots of each kind hold a conversation: over a WebSocket, over WebRTC, in real time."""

import asyncio
import re
import wave
from pathlib import Path

import aiohttp
import pytest

import bots
import network
import socket_clients
import speech
import webrtc_client
from caller import Caller, until
from conversation import ANSWER, GREETING, KEYS, QUESTION, stand_ins
from realtime import LiveOpenAI, RealtimeOpenAI
from services import Cartesia, Deepgram, OpenAI, Refusing
from socket_clients import WebSocketCaller
from standins import StandIns

CASCADE = ["-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia"]
REALTIME = ["-m", "realtime", "--realtime", "openai"]


@pytest.fixture(scope="module")
def socketed(vbot: Path) -> bots.Project:
    return bots.installed(vbot, "socketed", "-t", "websocket", *CASCADE, "--enable-noise-cancel")


@pytest.fixture(scope="module")
def realtime(vbot: Path) -> bots.Project:
    project = bots.installed(vbot, "realtime", "-t", "smallwebrtc", *REALTIME, "--transcription")
    project.write_env(OPENAI_API_KEY=KEYS["OPENAI_API_KEY"])
    return project


@pytest.fixture(scope="module")
def phoned(vbot: Path) -> bots.Project:
    return bots.installed(vbot, "phoned", "-t", "twilio", "-t", "smallwebrtc", *CASCADE)


async def holds_a_conversation(caller: Caller, services: StandIns) -> None:
    """The bot greets, the person asks, the bot answers; and nothing else is heard or said."""
    await caller.hear(GREETING)
    await caller.say(QUESTION)
    await caller.hear(ANSWER)
    heard = [asked["heard"] for asked in services.requests("deepgram", "finalize")]
    assert [words for words in heard if words] == [QUESTION]
    spoken = [said["transcript"].strip() for said in services.requests("cartesia", "speak")]
    assert spoken == [GREETING, ANSWER]


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


def test_a_telephone_bot_is_tried_without_a_telephone(phoned: bots.Project) -> None:
    phoned.write_env(**KEYS)

    async def conversation() -> None:
        async with stand_ins() as services, phoned.bot(services.env) as bot:
            async with webrtc_client.call(bot.url) as caller:
                await caller.ready()
                await holds_a_conversation(caller, services)
            assert bot.errors() == []

    network.run(conversation)


async def follow(url: str, events: list[bytes]) -> None:
    """What Whisker's user interface does: connect, and take in what comes."""
    async with aiohttp.ClientSession() as http, http.ws_connect(url) as ws:
        async for message in ws:
            events.append(message.data)


def test_a_conversation_is_recorded_logged_and_followed(vbot: Path) -> None:
    options = ["--recording", "--transcription", "--observability"]
    project = bots.installed(vbot, "watched", "-t", "smallwebrtc", *CASCADE, *options)
    project.write_env(**KEYS)

    async def conversation() -> None:
        events: list[bytes] = []
        async with stand_ins() as services, project.bot(services.env) as bot:
            async with webrtc_client.call(bot.url) as caller:
                await caller.ready()
                following = asyncio.create_task(follow("http://localhost:9090", events))
                await holds_a_conversation(caller, services)
                following.cancel()
            await until(lambda: "Recording: " in bot.log, 10)
            assert bot.errors() == []

        said = re.findall(r"Transcript: (\w+: .*)", bot.log)
        assert said == [f"bot: {GREETING}", f"user: {QUESTION}", f"bot: {ANSWER}"]
        [recording] = (project.server / "recordings").iterdir()
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
            said = re.findall(r"Transcript: (\w+: .*)", bot.log)
            assert said == [f"bot: {GREETING}", f"user: {QUESTION}", f"bot: {ANSWER}"]

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
            said = re.findall(r"Transcript: (\w+: .*)", bot.log)
            assert said == [f"bot: {GREETING}", f"user: {QUESTION}", f"bot: {ANSWER}"]

    network.run(conversation)


# Each service that fails says so itself, and then the pipeline names it: the bot cannot go on.
REFUSED = {
    name: [
        re.compile(rf"push_error_frame:\d+ - {name}#0 .*\b401\b"),
        re.compile(rf"PipelineWorker#0: {name}#0 can no longer do its job"),
    ]
    for name in ("DeepgramSTTService", "CartesiaTTSService")
}


def test_a_bot_whose_services_refuse_it_says_so(socketed: bots.Project) -> None:
    socketed.write_env(**KEYS)

    async def conversation() -> None:
        refusing = [Refusing(service) for service in (Deepgram("", []), Cartesia(""))]
        thinking = OpenAI(KEYS["OPENAI_API_KEY"], GREETING, {})
        async with StandIns(*refusing, thinking) as services:
            async with socketed.bot(services.env) as bot:
                patterns = [pattern for two in REFUSED.values() for pattern in two]
                async with socket_clients.call(WebSocketCaller, bot.url) as caller:
                    await caller.ready()
                    await until(lambda: all(p.search(bot.log) for p in patterns), 20)
                for pattern in patterns:
                    assert any(pattern.search(line) for line in bot.errors()), pattern
                others = [e for e in bot.errors() if not any(p.search(e) for p in patterns)]
                assert others == []

    network.run(conversation)
