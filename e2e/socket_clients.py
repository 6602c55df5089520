"""People who reach a bot over a WebSocket: with a client of the framework, or by telephone.

async with call(WebSocketCaller, bot.url) as caller:
    await caller.ready()
    await caller.say("What time is it?")
"""

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, TypeVar

import aiohttp
import numpy as np

import speech
from caller import EAR, Caller

C = TypeVar("C", bound="SocketCaller")


class SocketCaller(Caller):
    path: str

    def __init__(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        super().__init__()
        self.ws = ws

    async def speak(self) -> None:
        """Send what the microphone takes in, in real time."""
        now = asyncio.get_running_loop().time
        started, sent = now(), 0
        while True:
            await self.send_audio(self.breath())
            sent += 1
            await asyncio.sleep(max(0.0, started + sent / 50 - now()))

    async def listen(self) -> None:
        async for message in self.ws:
            self.received(message.data)

    async def send_audio(self, pcm: bytes) -> None:
        raise NotImplementedError

    def received(self, data: Any) -> None:
        raise NotImplementedError

    async def begin(self) -> None:
        """What is sent first."""

    async def end(self) -> None:
        """What is sent last."""


@contextlib.asynccontextmanager
async def call(kind: type[C], url: str) -> AsyncIterator[C]:
    """Call the bot whose runner answers at `url`; hang up at the end."""
    address = url.replace("http", "ws", 1) + kind.path
    async with aiohttp.ClientSession() as http, http.ws_connect(address) as ws:
        caller = kind(ws)
        await caller.begin()
        tasks = [asyncio.create_task(caller.speak()), asyncio.create_task(caller.listen())]
        try:
            yield caller
            # Neither ends by itself while the line is up.
            for task in tasks:
                assert not task.done(), f"the line broke down: {task.exception()}"
            await caller.end()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


# --- the framework's own protocol ------------------------------------------------------------

# Fields of pipecat/frames/frames.proto. On the wire, a field is a number with its type
# (0: an integer, 2: bytes with their length before), then its value.
AUDIO, MESSAGE = 2, 4
DATA = 1  # of a message
PCM, SAMPLE_RATE, CHANNELS = 3, 4, 5  # of audio


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def pack(number: int, value: int | bytes) -> bytes:
    """One field of protobuf."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a protobuf message."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        assert key & 7 in (0, 2), f"field of wire type {key & 7}"
        value = varint()
        if key & 7 == 0:
            yield key >> 3, value
        else:
            yield key >> 3, data[at : at + value]
            at += value


class WebSocketCaller(SocketCaller):
    """With a web client, over the `websocket` transport."""

    path, rate = "/ws-client", 16000

    def send_text(self, text: str) -> None:
        message = pack(MESSAGE, pack(DATA, text.encode()))
        self._sending = asyncio.create_task(self.ws.send_bytes(message))

    async def send_audio(self, pcm: bytes) -> None:
        frame = pack(PCM, pcm) + pack(SAMPLE_RATE, self.rate) + pack(CHANNELS, 1)
        await self.ws.send_bytes(pack(AUDIO, frame))

    def received(self, data: bytes) -> None:
        for kind, value in fields(data):
            assert isinstance(value, bytes)
            frame = dict(fields(value))
            if kind == AUDIO:
                pcm, rate = frame[PCM], frame[SAMPLE_RATE]
                assert isinstance(pcm, bytes) and isinstance(rate, int)
                self.heard += speech.resample(pcm, rate, EAR)
            elif kind == MESSAGE:
                text = frame[DATA]
                assert isinstance(text, bytes)
                self.messages.append(json.loads(text))


# --- telephony -------------------------------------------------------------------------------


def mu_law(pcm: bytes) -> bytes:
    """16-bit samples to the 8-bit code of telephone networks (ITU-T G.711)."""
    wave = speech.samples(pcm).astype(np.int32)
    sign = np.where(wave < 0, 0x80, 0)
    wave = np.minimum(np.abs(wave), 32635) + 132
    exponent = np.floor(np.log2(wave)).astype(np.int32) - 7
    mantissa = wave >> (exponent + 3) & 0x0F
    return (~(sign | exponent << 4 | mantissa) & 0xFF).astype(np.uint8).tobytes()


def linear(code: bytes) -> bytes:
    """The way back."""
    bits = ~np.frombuffer(code, dtype=np.uint8).astype(np.int32) & 0xFF
    wave = (((bits & 0x0F) << 3) + 132 << (bits >> 4 & 7)) - 132
    return np.where(bits & 0x80, -wave, wave).astype(np.int16).tobytes()


class TwilioCaller(SocketCaller):
    """By telephone, over Twilio's media streams.

    https://www.twilio.com/docs/voice/media-streams/websocket-messages
    """

    path, rate = "/ws", 8000
    stream, call, account = "MZ" + "1" * 32, "CA" + "2" * 32, "AC" + "3" * 32

    async def begin(self) -> None:
        self._sequence = self._chunk = 0
        await self.ws.send_json({"event": "connected", "protocol": "Call", "version": "1.0.0"})
        start = {
            "streamSid": self.stream,
            "accountSid": self.account,
            "callSid": self.call,
            "tracks": ["inbound"],
            "customParameters": {},
            "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
        }
        await self._send("start", start=start)

    async def _send(self, event: str, **rest: Any) -> None:
        self._sequence += 1
        head = {"event": event, "sequenceNumber": str(self._sequence), "streamSid": self.stream}
        await self.ws.send_json(head | rest)

    async def send_audio(self, pcm: bytes) -> None:
        media = {
            "track": "inbound",
            "chunk": str(self._chunk + 1),
            "timestamp": str(self._chunk * 20),
            "payload": base64.b64encode(mu_law(pcm)).decode(),
        }
        self._chunk += 1
        await self._send("media", media=media)

    def received(self, data: str) -> None:
        message = json.loads(data)
        self.messages.append(message | {"type": message["event"]})
        assert message["streamSid"] == self.stream
        if message["event"] == "media":
            pcm = linear(base64.b64decode(message["media"]["payload"]))
            self.heard += speech.resample(pcm, self.rate, EAR)

    async def end(self) -> None:
        await self._send("stop", stop={"accountSid": self.account, "callSid": self.call})
