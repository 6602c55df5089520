"""Pipecat's own protocol for WebSockets: pipecat/frames/frames.proto."""

from typing import Any
from urllib.parse import urlsplit

import aiohttp
from pipecat.frames.protobufs import frames_pb2

from vbot.testing.people.person import SocketPerson, client_ready
from vbot.testing.sound import resampled

MESSAGES: Any = frames_pb2  # its classes are made at run time, unseen by type checkers


class Client(SocketPerson):
    """Somebody with an app that uses the `websocket` transport."""

    async def address(self, http: aiohttp.ClientSession) -> str:
        async with http.post(f"{self.bot.url}/start", json={"transport": "websocket"}) as response:
            return urlsplit((await response.json())["wsUrl"]).path

    async def begin(self) -> None:
        message = MESSAGES.MessageFrame(data=client_ready())
        await self.ws.send_bytes(MESSAGES.Frame(message=message).SerializeToString())

    async def send_audio(self, pcm: bytes) -> None:
        audio = MESSAGES.AudioRawFrame(audio=pcm, sample_rate=self.rate, num_channels=1)
        await self.ws.send_bytes(MESSAGES.Frame(audio=audio).SerializeToString())

    def received(self, data: bytes) -> None:
        frame = MESSAGES.Frame.FromString(data)
        if frame.WhichOneof("frame") == "audio":
            self.hear(resampled(frame.audio.audio, frame.audio.sample_rate, self.rate))
