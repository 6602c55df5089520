"""https://gradium.ai/api_docs.html: speech to text over a WebSocket"""

import base64
from typing import Any

from aiohttp import web

from vbot.testing.stand_in import Listener, WebSocketService


class GradiumTranscription(WebSocketService):
    """Streaming speech to text, word for word."""

    def opened(self, request: web.Request) -> list[Listener]:
        self.expect(request.path == "/api/speech/asr", "no such path")
        return []

    async def received(
        self, ws: web.WebSocketResponse, session: list[Listener], message: Any
    ) -> None:
        match message["type"]:
            case "setup":
                self.requests.append(message)
                rate = message["input_format"].removeprefix("pcm_")
                session.append(Listener(self.script, int(rate)))
                await ws.send_json({"type": "ready", "request_id": "1"})
            case "audio":
                for event, text in session[0].take(base64.b64decode(message["audio"])):
                    if event == "ended":
                        await self._words(ws, text)
            case "flush":
                await self._words(ws, session[0].end())
                await ws.send_json({"type": "flushed", "flush_id": message["flush_id"]})
            case kind:
                self.expect(kind == "end_of_stream", f"message: {message}")

    async def _words(self, ws: web.WebSocketResponse, text: str) -> None:
        for number, word in enumerate(text.split()):
            await ws.send_json({"type": "text", "text": word, "start_s": number * 0.2})
