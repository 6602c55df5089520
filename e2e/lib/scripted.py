"""A bot that does what a test tells it: it keeps a page in a state for as long as needed.

It talks with the page over the `websocket` transport, in the framework's own protocol.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

from aiohttp import WSMsgType, web

import speech
from socket_clients import AUDIO, CHANNELS, DATA, MESSAGE, PCM, SAMPLE_RATE, fields, pack

RATE = 24000


class ScriptedBot:
    """One page at a time may connect to it."""

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
        await self._page.send_bytes(pack(MESSAGE, pack(DATA, json.dumps(message).encode())))

    async def says(self, segment: int, said: str, ahead: str = "") -> None:
        """How far the bot has come with a sentence."""
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
        """The bot says this again and again."""

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
async def scripted_bot(port: int) -> AsyncIterator[ScriptedBot]:
    bot = ScriptedBot(port)
    app = web.Application()
    app.router.add_post("/start", bot.start)
    app.router.add_get("/ws-client", bot.serve)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "localhost", port).start()
        yield bot
    finally:
        await runner.cleanup()
