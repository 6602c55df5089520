"""People who reach a bot over a WebSocket: with a client of the framework, or by phones.py.

async with call(WebSocketCaller, bot.url) as caller:
    await caller.ready()
    await caller.say("What time is it?")
"""

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, TypeVar

import aiohttp

import speech
from caller import EAR, Caller, until

C = TypeVar("C", bound="SocketCaller")


class SocketCaller(Caller):
    path: str
    protocols: tuple[str, ...] = ()  # WebSocket subprotocols
    autoping = True  # aiohttp answers pings, and drops the answers to those that are sent

    def __init__(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        super().__init__()
        self.ws = ws
        self.over = False

    async def left_alone(self, timeout: float = 20) -> None:
        """Wait until the bot hangs up."""
        await until(lambda: self.ws.closed, timeout)
        assert self.ws.closed, f"the bot did not hang up within {timeout:g} s"
        self.over = True

    async def speak(self) -> None:
        """Send what the microphone takes in, in real time."""
        now = asyncio.get_running_loop().time
        started, sent = now(), 0
        while not self.ws.closed:
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
async def call(
    kind: type[C],
    url: str,
    more: str = "",
    trust: ssl.SSLContext | bool = True,
    headers: Mapping[str, str] | None = None,
) -> AsyncIterator[C]:
    """Call the bot whose runner answers at `url`; hang up at the end. `more` is a path's end."""
    address = url.replace("http", "ws", 1) + kind.path + more
    async with (
        aiohttp.ClientSession(headers=headers) as http,
        http.ws_connect(address, ssl=trust, protocols=kind.protocols, autoping=kind.autoping) as ws,
    ):
        caller = kind(ws)
        await caller.begin()
        tasks = [asyncio.create_task(caller.speak()), asyncio.create_task(caller.listen())]
        try:
            try:
                yield caller
            finally:
                # Neither task ends by itself during the call. If one did, its error is the reason.
                for task in tasks:
                    if task.done() and not caller.over:
                        raise AssertionError("the line broke down") from task.exception()
            if not caller.over:
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
