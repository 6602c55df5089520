"""A bot that does what a test tells it: it keeps a page in a state for as long as needed.

It talks with the page in the framework's own protocol: over the `websocket` transport, or with a
`scripted_peer` over WebRTC.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path
from typing import Any

from aiohttp import WSMsgType, web
from aiortc import (
    RTCConfiguration,
    RTCDataChannel,
    RTCPeerConnection,
    RTCSessionDescription,
)

import speech
import webrtc_client
from socket_clients import AUDIO, CHANNELS, DATA, MESSAGE, PCM, SAMPLE_RATE, fields, pack

RATE = 24000

# What a bot tells a page before it ends the session, and what the page says then.
ENDINGS: list[tuple[dict[str, Any], str]] = [
    ({"ended": "silence", "minutes": 5}, "Nobody spoke for 5 minutes."),
    ({"ended": "bot"}, "The bot has ended the conversation."),
    ({"ended": "time"}, "The time for this conversation is over."),
    ({"ended": "stopped"}, "The bot stopped. Try again later."),
]


class ScriptedBot:
    """A bot to which one page at a time can connect."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.asked = asyncio.Event()  # the page is ready for the bot
        self._page: web.WebSocketResponse

    async def start(self, request: web.Request) -> web.Response:
        return web.json_response({"wsUrl": f"ws://localhost:{self.port}/ws-client"})

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        self._page = web.WebSocketResponse()
        await self._page.prepare(request)
        async for message in self._page:
            if message.type != WSMsgType.BINARY:
                continue
            for kind, value in fields(message.data):
                if kind == MESSAGE and isinstance(value, bytes):
                    text = dict(fields(value))[DATA]
                    assert isinstance(text, bytes)
                    if json.loads(text)["type"] == "client-ready":
                        self.asked.set()
        return self._page

    async def send(self, kind: str, **data: Any) -> None:
        """A message of the framework's protocol."""
        message = {"label": "rtvi-ai", "id": "scripted", "type": kind, "data": data}
        await self.deliver(json.dumps(message))

    async def deliver(self, text: str) -> None:
        await self._page.send_bytes(pack(MESSAGE, pack(DATA, text.encode())))

    async def says(self, segment: int, said: str, ahead: str = "") -> None:
        """Report how much of a sentence the bot has spoken."""
        progress = {"accumulated_text": said, "remaining_text": ahead}
        text = f"{said} {ahead}".strip()
        await self.send(
            "bot-output",
            text=text,
            segment_id=segment,
            will_be_spoken=True,
            spoken_progress=progress,
        )

    async def hears(self, text: str, final: bool = True) -> None:
        await self.send("user-transcription", text=text, final=final, timestamp="", user_id="")

    @contextlib.asynccontextmanager
    async def aloud(self, text: str) -> AsyncIterator[None]:
        """Let the bot say this again and again."""

        async def speak() -> None:
            pcm = speech.speak(text, RATE)
            while True:
                for at in range(0, len(pcm), RATE // 25):
                    sound = pack(PCM, pcm[at : at + RATE // 25])
                    frame = sound + pack(SAMPLE_RATE, RATE) + pack(CHANNELS, 1)
                    await self._page.send_bytes(pack(AUDIO, frame))
                    await asyncio.sleep(0.02)

        speaking = asyncio.create_task(speak())
        try:
            yield
        finally:
            speaking.cancel()

    async def leaves(self) -> None:
        await self._page.close()


@contextlib.asynccontextmanager
async def listening(port: int, *routes: web.RouteDef) -> AsyncIterator[None]:
    app = web.Application()
    app.add_routes(routes)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "localhost", port).start()
        yield
    finally:
        await runner.cleanup()


@contextlib.asynccontextmanager
async def scripted_bot(port: int) -> AsyncIterator[ScriptedBot]:
    bot = ScriptedBot(port)
    async with listening(port, web.post("/start", bot.start), web.get("/ws-client", bot.serve)):
        yield bot


class ScriptedPeer(ScriptedBot):
    """The same, for server/page.html, which it serves too."""

    def __init__(self, port: int, page: Path) -> None:
        super().__init__(port)
        self.page = page
        self.refuses = 0  # the status of its answer to POST /start
        self.token = ""  # without which it answers 401
        self.asked_for: list[str] = []  # addresses
        self.hidden = False  # no packet reaches it
        self.got: list[dict[str, Any]] = []  # messages of the page
        self._sound = self._still = bytes(2 * webrtc_client.TICK)
        self._peer: RTCPeerConnection | None = None
        self._channel: RTCDataChannel

    async def start(self, request: web.Request) -> web.Response:
        assert await request.json() == {"transport": "webrtc"}
        self.asked_for.append(str(request.url))
        if self.token and request.headers.get("Authorization") != f"Bearer {self.token}":
            return web.json_response({"detail": "send START_TOKEN"}, status=401)
        if self.refuses:
            return web.json_response({"detail": "for programs"}, status=self.refuses)
        return web.json_response({"sessionId": "a-session"})

    async def show(self, request: web.Request) -> web.FileResponse:
        self.asked_for.append(str(request.url))
        return web.FileResponse(self.page)

    async def offer(self, request: web.Request) -> web.Response:
        offer = await request.json()
        self._peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self._peer.addTrack(webrtc_client.Microphone(self._breath))
        self._peer.on("datachannel", self._opened)
        await self._peer.setRemoteDescription(RTCSessionDescription(offer["sdp"], offer["type"]))
        await self._peer.setLocalDescription(await self._peer.createAnswer())
        sdp = self._peer.localDescription.sdp
        if self.hidden:
            lines = sdp.split("\r\n")
            sdp = "\r\n".join(line for line in lines if not line.startswith("a=candidate"))
        return web.json_response({"sdp": sdp, "type": "answer", "pc_id": "a-peer"})

    async def candidates(self, request: web.Request) -> web.Response:
        body = await request.json()
        assert body["pc_id"] == "a-peer" and body["candidates"]
        return web.json_response({"status": "success"})  # the page finds the bot, not it the page

    def _opened(self, channel: RTCDataChannel) -> None:
        self._channel = channel

        @channel.on("message")
        def received(text: str) -> None:
            if text.startswith("ping"):
                return
            self.got.append(json.loads(text))
            if self.got[-1]["type"] == "client-ready":
                self.asked.set()

    async def greets(self, connecting: Awaitable[None]) -> None:
        """Wait for the page, and be ready for it."""
        self.asked.clear()
        await connecting
        await asyncio.wait_for(self.asked.wait(), 20)
        await self.send("bot-ready", version="2.2.0")

    async def got_message(self, kind: str, **data: Any) -> None:
        """Wait until this is the last message of the page."""
        async with asyncio.timeout(20):
            while (self.got[-1]["type"], self.got[-1]["data"]) != (kind, data):
                await asyncio.sleep(0.05)

    def _breath(self) -> bytes:
        tick = self._sound[: len(self._still)]
        self._sound = self._sound[len(tick) :] + tick
        return tick

    async def deliver(self, text: str) -> None:
        self._channel.send(text)

    async def says(self, segment: int, said: str, ahead: str = "", status: str = "") -> None:
        await self.send(
            "bot-output",
            text=f"{said} {ahead}".strip(),
            segment_id=segment,
            will_be_spoken=True,
            spoken_status=status or ("in-progress" if ahead else "completed"),
            spoken_progress={"accumulated_text": said, "remaining_text": ahead},
        )

    @contextlib.asynccontextmanager
    async def aloud(self, text: str) -> AsyncIterator[None]:
        speech_ = speech.speak(text, webrtc_client.RATE)
        self._sound = speech_[: len(speech_) // len(self._still) * len(self._still)]
        try:
            yield
        finally:
            self._sound = self._still

    async def leaves(self) -> None:
        if self._peer:
            await self._peer.close()


@contextlib.asynccontextmanager
async def scripted_peer(port: int, page: Path) -> AsyncIterator[ScriptedPeer]:
    bot = ScriptedPeer(port, page)
    offers = "/sessions/a-session/api/offer"
    routes = (
        web.get("/", bot.show),
        web.post("/start", bot.start),
        web.post(offers, bot.offer),
        web.patch(offers, bot.candidates),
    )
    async with listening(port, *routes):
        try:
            yield bot
        finally:
            await bot.leaves()
