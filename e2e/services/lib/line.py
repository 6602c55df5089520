"""The far end of the line that a bot speaks on, for bots that run in the process that measures.

A `Line` takes the place of the WebSocket that the framework's runner would hand over, and bot.py
does the rest as ever: its own `bot`, the real transport, the real serializer. What comes out is
kept, and `seconds` says how long it sounds. The tone that is spoken has no silence in it, so what
the framework pads with silence does not count.

It runs where the packages of the bot are, and needs none that only the checks have. `tone` needs
nothing.
"""

import array
import asyncio
import base64
import contextlib
import functools
import importlib.util
import json
import math
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

PITCH = 400  # Hz
STEP = 0.1  # seconds
LOUD = 1000  # of 32767; the tone comes to 8000


@functools.cache
def tone(rate: int) -> bytes:
    """One second, exactly, of 16-bit sound."""
    wave = (round(8000 * math.cos(2 * math.pi * PITCH * i / rate)) for i in range(rate))
    return array.array("h", wave).tobytes()


class Line:
    """Somebody who is connected and listens. Subclasses know how it is done."""

    transport: str  # as vbot and the framework call it
    announced: bool  # whether the framework's runner says so; what is sent first tells it, too
    hello: list[str | bytes]  # what is sent first

    def __init__(self) -> None:
        from starlette.websockets import WebSocketState

        self.client_state = self.application_state = WebSocketState.CONNECTED
        self.headers: dict[str, str] = {}
        self.pcm = array.array("h")
        self.rates: set[int] = set()
        self.sounding = asyncio.Event()
        self._coming: asyncio.Queue[str | bytes | None] = asyncio.Queue()
        for message in self.hello:
            self._coming.put_nowait(message)

    def take(self, pcm: bytes, rate: int) -> None:
        self.pcm.frombytes(pcm)
        self.rates.add(rate)
        self.sounding.set()

    @property
    def seconds(self) -> float:
        """How long the tone lasts that came, at the one rate of this line."""
        loud = [at for at, sample in enumerate(self.pcm) if abs(sample) > LOUD]
        if not loud:
            return 0.0
        [rate] = self.rates
        return (loud[-1] - loud[0]) / rate

    async def quiet(self, pause: float) -> None:
        """Wait until nothing has come for that many seconds."""
        had, still = 0, 0.0
        # In steps, not by the clock: where a machine is busy, everybody waits, who speaks too.
        while still < pause:
            await asyncio.sleep(STEP)
            still = still + STEP if had == len(self.pcm) else 0.0
            had = len(self.pcm)

    def hang_up(self) -> None:
        self._coming.put_nowait(None)

    # What the framework asks of a WebSocket of Starlette:

    async def receive(self) -> dict[str, Any]:
        message = await self._coming.get()
        if message is None:
            self.client_state = type(self.client_state).DISCONNECTED
            return {"type": "websocket.disconnect"}
        name = "text" if isinstance(message, str) else "bytes"
        return {"type": "websocket.receive", name: message}

    async def iter_text(self) -> AsyncIterator[str]:
        while isinstance(message := await self._coming.get(), str):
            yield message

    async def send_text(self, data: str) -> None:
        raise NotImplementedError

    async def send_bytes(self, data: bytes) -> None:
        raise NotImplementedError

    async def close(self) -> None:
        self.hang_up()


class Telephone(Line):
    """A call, as the providers of telephone lines stream it: a code of 8 bits, 8000 times a second.

    They differ in the message that begins it, and one of them in the code.
    """

    announced, rate = False, 8000
    start: dict[str, Any]

    def __init__(self) -> None:
        silence = base64.b64encode(b"\xff" * 160).decode()
        messages = [
            {"event": "connected", "protocol": "Call", "version": "1.0.0"},
            {"event": "start"} | self.start,
            {"event": "media", "media": {"payload": silence}},
        ]
        self.hello = [json.dumps(message) for message in messages]
        super().__init__()

    def decode(self, payload: bytes) -> bytes:
        import audioop  # of the package audioop-lts where Python has none; the framework needs it

        return audioop.ulaw2lin(payload, 2)

    async def send_text(self, data: str) -> None:
        if media := json.loads(data).get("media"):
            self.take(self.decode(base64.b64decode(media["payload"])), self.rate)


class Twilio(Telephone):
    """https://www.twilio.com/docs/voice/media-streams/websocket-messages"""

    transport = "twilio"
    start = {"start": {"streamSid": "MZ1", "callSid": "CA2", "accountSid": "AC3"}}


class Telnyx(Telephone):
    """https://developers.telnyx.com/docs/voice/programmable-voice/media-streaming"""

    transport = "telnyx"
    _form = {"encoding": "PCMU", "sample_rate": 8000, "channels": 1}
    start = {"stream_id": "1", "start": {"call_control_id": "2", "media_format": _form}}


class Plivo(Telephone):
    """https://docs.plivo.com/docs/voice/xml/audiostream/stream-events-to-plivo/play-audio-event"""

    transport = "plivo"
    start = {"start": {"streamId": "1", "callId": "2"}}


class Exotel(Telephone):
    """Linear samples of 16 bits instead.

    https://developer.exotel.com/docs/agentstream/stream-voicebot-applet
    """

    transport = "exotel"
    start = {"start": {"stream_sid": "1", "call_sid": "2", "account_sid": "3"}}

    def decode(self, payload: bytes) -> bytes:
        return payload


class Page(Line):
    """A web client on the `websocket` transport: 16-bit PCM, at the rate that each frame says."""

    transport, announced = "websocket", True

    def __init__(self) -> None:
        from pipecat.frames.protobufs import frames_pb2

        self._frame: Any = frames_pb2.Frame  # type: ignore[attr-defined]
        about = {"version": "1.2.0", "about": {"library": "vbot-e2e", "library_version": "0"}}
        ready = {"label": "rtvi-ai", "type": "client-ready", "id": "1", "data": about}
        frame = self._frame()
        frame.message.data = json.dumps(ready)
        self.hello = [frame.SerializeToString()]
        super().__init__()

    async def send_bytes(self, data: bytes) -> None:
        frame = self._frame.FromString(data)
        if frame.WhichOneof("frame") == "audio":
            assert frame.audio.num_channels == 1
            self.take(frame.audio.audio, frame.audio.sample_rate)


LINES = {line.transport: line for line in (Twilio, Telnyx, Plivo, Exotel, Page)}


def load(server: Path, name: str) -> Any:
    """The bot.py of a project, as a module of its own, with the agent.py beside it.

    All bots share the package vbot, in which each has the files that it needs.
    """
    sys.path.insert(0, str(server))
    for own in ("agent", "sentences"):
        sys.modules.pop(own, None)
    if package := sys.modules.get("vbot"):
        package.__path__.append(str(server / "vbot"))
    spec = importlib.util.spec_from_file_location(name, server / "bot.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextlib.asynccontextmanager
async def session(module: Any, line: Line) -> AsyncIterator[None]:
    """The bot serves whoever is on the line, who hangs up at the end."""
    from pipecat.runner.types import WebSocketRunnerArguments

    websocket: Any = line
    kind = line.transport if line.announced else None
    arguments = WebSocketRunnerArguments(websocket=websocket, transport_type=kind)
    serving = asyncio.create_task(module.bot(arguments))
    try:
        yield
    finally:
        line.hang_up()
        await asyncio.wait_for(serving, 30)
