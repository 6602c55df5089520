"""Hold a conversation with each of many bots, and measure the speech. See test_hearing.py.

    python e2e/hearing.py SPEECH.wav < PLAN.json > MEASURED.json

Run it with a Python that has the packages of all services. PLAN is a list of
`{"service": "stt/deepgram", "line": "phone", "bot": "/path/of/bot.py"}`; MEASURED has the same
order. Each bot runs in this process, from its `bot` function on, with the framework's transport
and serializer. At one end is a line from here, at the other the service from ears.py. SPEECH is a
second at 48 kHz, loud from beginning to end.
"""

import asyncio
import audioop
import base64
import functools
import json
import os
import re
import socket
import ssl
import sys
import tempfile
import time
import traceback
import wave
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import numpy as np
import onnxruntime
import pipecat.frames.protobufs.frames_pb2 as frames
import soxr
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from loguru import logger
from pipecat.audio.resamplers import soxr_stream_resampler
from pipecat.frames.frames import BotStoppedSpeakingFrame, Frame, InputAudioRawFrame
from pipecat.processors.aggregators.llm_response_universal import LLMUserAggregator
from pipecat.processors.frame_processor import FrameDirection
from pipecat.runner.types import WebSocketRunnerArguments
from starlette.websockets import WebSocket

import ears
from line import load as bot_py

TOGETHER = 6  # conversations at a time
PATIENCE = 60.0  # seconds
TICK = 0.02  # seconds of audio in a message, as telephone networks have it
LEAD = 0.2  # seconds of audio that the person may be ahead of the bot
LOUD = 3000  # neither noise nor the echo of a filter
REST = 0.25  # seconds of silence after which speech has ended

# Variables that need a certain form, and those that a service would look for on the network.
VALUES = {
    "AWS_ACCESS_KEY_ID": "a-key",
    "AWS_SECRET_ACCESS_KEY": "a-key",
    "AZURE_REALTIME_BASE_URL": "wss://bot.openai.azure.com/openai/v1/realtime?model=m",
    "AZURE_VOICE_LIVE_ENDPOINT": "https://bot.services.ai.azure.com",
}


class Failed(Exception):
    """What was awaited did not come."""


def loud(pcm: bytes | bytearray) -> tuple[int, int, int]:
    """The first sample of speech, the one after its last, and the number of all."""
    samples = np.frombuffer(pcm[: len(pcm) // 2 * 2], dtype=np.int16).astype(np.int32)
    found = np.flatnonzero(np.abs(samples) > LOUD)
    return (int(found[0]), int(found[-1]) + 1, len(samples)) if len(found) else (0, 0, 0)


def length(pcm: bytes | bytearray, rate: int) -> float:
    """How many seconds of speech that is."""
    first, last, _ = loud(pcm)
    return (last - first) / rate


def rested(pcm: bytes | bytearray, rate: int) -> bool:
    """Whether there was speech, and is none any more."""
    _, last, size = loud(pcm)
    return size - last > REST * rate > 0


async def until(holds: Callable[[], Any], what: str, timeout: float = PATIENCE) -> None:
    deadline = time.monotonic() + timeout
    while not holds():
        if time.monotonic() > deadline:
            raise Failed(f"no {what} within {timeout:g} s")
        await asyncio.sleep(0.02)


class Line:
    """A person's line to the bot: a WebSocket, of which this is the other end."""

    rate: int  # of the person's microphone
    transport: str | None  # as the framework's runner has it

    def __init__(self) -> None:
        self._incoming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._incoming.put_nowait({"type": "websocket.connect"})
        scope = {"type": "websocket", "path": "/ws", "headers": [], "query_string": b""}
        self.websocket = WebSocket(scope, self._incoming.get, self._sent)
        self.heard = bytearray()
        self.heard_rate = 0
        self.interruptions = 0

    async def _sent(self, message: dict[str, Any]) -> None:
        if message["type"] == "websocket.send":
            self.received(message.get("text") or message["bytes"])

    def hear(self, pcm: bytes, rate: int) -> None:
        self.heard += pcm
        self.heard_rate = rate

    def put(self, data: str | bytes) -> None:
        kind = "text" if isinstance(data, str) else "bytes"
        self._incoming.put_nowait({"type": "websocket.receive", kind: data})

    def hang_up(self) -> None:
        self._incoming.put_nowait({"type": "websocket.disconnect", "code": 1000})

    def begin(self) -> None:
        raise NotImplementedError

    def send_audio(self, pcm: bytes) -> None:
        raise NotImplementedError

    def received(self, data: Any) -> None:
        raise NotImplementedError


class Phone(Line):
    """https://www.twilio.com/docs/voice/media-streams/websocket-messages"""

    rate, transport = 8000, None

    def begin(self) -> None:
        start = {"streamSid": "MZ1", "callSid": "CA1", "accountSid": "AC1", "customParameters": {}}
        self.put(json.dumps({"event": "connected", "protocol": "Call"}))
        self.put(json.dumps({"event": "start", "streamSid": "MZ1", "start": start}))

    def send_audio(self, pcm: bytes) -> None:
        payload = base64.b64encode(audioop.lin2ulaw(pcm, 2)).decode()
        self.put(json.dumps({"event": "media", "media": {"payload": payload}}))

    def received(self, data: str) -> None:
        message = json.loads(data)
        if message["event"] == "media":
            self.hear(audioop.ulaw2lin(base64.b64decode(message["media"]["payload"]), 2), 8000)
        elif message["event"] == "clear":
            self.interruptions += 1


class Web(Line):
    """A web client, on the framework's own protocol."""

    rate, transport = 16000, "websocket"

    def begin(self) -> None:
        about = {"version": "1.2.0", "about": {"library": "vbot-e2e"}}
        ready = {"label": "rtvi-ai", "type": "client-ready", "id": "1", "data": about}
        message = frames.Frame()
        message.message.data = json.dumps(ready)
        self.put(message.SerializeToString())

    def send_audio(self, pcm: bytes) -> None:
        message = frames.Frame()
        message.audio.audio = pcm
        message.audio.sample_rate, message.audio.num_channels = self.rate, 1
        self.put(message.SerializeToString())

    def received(self, data: bytes) -> None:
        message = frames.Frame.FromString(data)
        kind = message.WhichOneof("frame")
        if kind == "audio":
            self.hear(message.audio.audio, message.audio.sample_rate)
        elif kind == "interruption":
            self.interruptions += 1


LINES: dict[str, type[Line]] = {"phone": Phone, "web": Web}


async def speak(call: ears.Call, line: Line, pcm: bytes, heard: Callable[[], bool]) -> None:
    """Say this, then nothing, until it was heard.

    Not in real time, but as quickly as the bot listens: detectors count samples, so the result is
    the same on a busy machine.
    """
    size, said, started = int(line.rate * TICK) * 2, 0.0, call.listened
    deadline = time.monotonic() + PATIENCE
    while not heard():
        if time.monotonic() > deadline:
            raise Failed(f"not all was heard in {said:.1f} s of audio")
        if said - (call.listened - started) > LEAD:
            await asyncio.sleep(0.002)
            continue
        line.send_audio(pcm[:size].ljust(size, b"\0"))
        pcm = pcm[size:]
        said += TICK


async def listen(call: ears.Call, line: Line, voice: Callable[[int], bytes]) -> None:
    """The service hears a second, after some silence: a line is there before anybody speaks."""
    silence = bytes(line.rate)
    await speak(call, line, silence + voice(line.rate), lambda: rested(call.heard, call.rate))


async def talk(
    call: ears.Call, line: Line, voice: Callable[[int], bytes], found: dict[str, Any]
) -> None:
    """The service says a second, and another, into which the person speaks for a second."""
    assert call.realtime
    call.realtime.speak()
    await until(lambda: call.spoken == 1, "end of what the bot says")
    found |= {"voice_rate": call.voice_rate, "said": length(line.heard, line.heard_rate)}

    before, line.interruptions = len(line.heard), 0
    call.realtime.speak()
    await until(lambda: len(line.heard) > before, "second word from the bot")
    await listen(call, line, voice)
    found["interrupted_alone"] = alone = line.interruptions
    if call.realtime.interrupts:
        call.realtime.interrupt()
        await until(lambda: line.interruptions > alone, "interruption")


async def converse(
    service: str, line: Line, bot: Callable[..., Any], voice: Callable[[int], bytes]
) -> dict[str, Any]:
    """What was measured, and what the bot logged as errors."""
    call = ears.Call(service, voice)
    ears.CALL.set(call)
    await line.websocket.accept()
    line.begin()
    arguments = WebSocketRunnerArguments(websocket=line.websocket, transport_type=line.transport)
    running = asyncio.create_task(bot(arguments))
    found: dict[str, Any] = {}
    try:
        if service.startswith("realtime/"):
            await until(call.asked.is_set, "request to speak first")
            await talk(call, line, voice, found)
        else:
            if service not in ears.UNCONNECTED:
                await until(call.connected.is_set, "connection to the service")
            await listen(call, line, voice)
    except Failed as error:
        call.errors.append(str(error))
    line.hang_up()
    try:
        await asyncio.wait_for(running, PATIENCE)
    except Exception:
        call.errors.append(traceback.format_exc())
    heard = length(call.heard, call.rate) if call.rate else 0.0
    found |= {"rate": call.rate, "heard": heard, "texts": sorted(call.texts)}
    return {**found, "errors": call.errors}


def load(number: int, path: Path) -> Callable[..., Any]:
    """`bot` of a bot.py, with a value for each variable that it needs."""
    for name in re.findall(r"(?m)^(\w+)=", (path.parent / ".env.example").read_text()):
        os.environ.setdefault(name, "us-east-1" if "REGION" in name else "a-key")
    return bot_py(path.parent, f"bot_{number}").bot


def google_credentials(folder: Path) -> Path:
    """A service account's key, such as Google hands out, which opens nothing."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    account = {
        "type": "service_account",
        "project_id": "p",
        "private_key": key.decode(),
        "client_email": "bot@p.iam.gserviceaccount.com",
        "token_uri": "https://oauth2.googleapis.com/token",
    }
    path = folder / "account.json"
    path.write_text(json.dumps(account))
    return path


def watch() -> None:
    """Let each call know how far its bot is."""
    process = LLMUserAggregator.process_frame

    async def noted(self: Any, frame: Frame, direction: FrameDirection) -> None:
        await process(self, frame, direction)
        call = ears.CALL.get()
        if isinstance(frame, InputAudioRawFrame):
            call.listened += frame.num_frames / frame.sample_rate
        elif isinstance(frame, BotStoppedSpeakingFrame):
            call.spoken += 1

    LLMUserAggregator.process_frame = noted

    # After 0.2 s without audio, a resampler drops what it holds back. Here that would only mean
    # that the machine is busy, so its clock stands still.
    soxr_stream_resampler.time = SimpleNamespace(time=lambda: 0.0)


def load_once() -> None:
    """Load each model once, not once for each bot, and the authorities: nothing changes them."""
    load, loaded = onnxruntime.InferenceSession, {}

    def session(path: Any, *rest: Any, **options: Any) -> Any:
        if path not in loaded:
            loaded[path] = load(path, *rest, **options)
        return loaded[path]

    onnxruntime.InferenceSession = session
    ssl.create_default_context = functools.cache(ssl.create_default_context)


def stay_home(reached: list[str]) -> None:
    """Refuse connections: a service that tries one is not replaced."""

    def refuse(*arguments: Any, **_: Any) -> Any:
        reached.append(str(arguments))
        raise OSError("the network is out of bounds here")

    socket.getaddrinfo = refuse
    socket.socket.connect = refuse
    socket.socket.connect_ex = refuse


async def converse_all(plan: list[dict[str, str]], speech: bytes) -> list[dict[str, Any]]:
    samples = np.frombuffer(speech, dtype=np.int16)
    spoken: dict[int, bytes] = {}

    def voice(rate: int) -> bytes:
        if rate not in spoken:
            wave = soxr.resample(samples, 48000, rate)
            wave[: rate // 200] = wave[-(rate // 200) :] = 12000  # the edges, loud again
            spoken[rate] = wave.astype(np.int16).tobytes()
        return spoken[rate]

    turn = asyncio.Semaphore(TOGETHER)

    async def one(entry: dict[str, str], bot: Callable[..., Any]) -> dict[str, Any]:
        async with turn:
            return await converse(entry["service"], LINES[entry["line"]](), bot, voice)

    bots = [load(number, Path(entry["bot"])) for number, entry in enumerate(plan)]
    return await asyncio.gather(*map(one, plan, bots))


def main() -> None:
    def note(message: Any) -> None:
        if call := ears.CALL.get(None):
            call.errors.append(message.record["message"])

    logger.remove()
    ears.replace_connections()
    reached: list[str] = []
    with wave.open(sys.argv[1]) as wav, tempfile.TemporaryDirectory() as folder:
        assert wav.getframerate() == wav.getnframes() == 48000
        os.environ["GOOGLE_APPLICATION_CREDENTIALS"] = str(google_credentials(Path(folder)))
        os.environ.update(VALUES)
        watch()
        load_once()
        stay_home(reached)
        plan = json.load(sys.stdin)
        logger.add(note, level="ERROR")
        measured = asyncio.run(converse_all(plan, wav.readframes(48000)))
    json.dump({"measured": measured, "reached": reached}, sys.stdout)


if __name__ == "__main__":
    main()
