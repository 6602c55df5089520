"""https://docs.gladia.io/api-reference/v2/live/init"""

import base64
from typing import Any

from aiohttp import web

from vbot.testing.stand_in import Listener, WebSocketService


class Gladia(WebSocketService):
    """Streaming speech to text: a request opens a session, to which the bot then connects."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.method == "GET":
            return await super().handle(request)
        self.expect(request.path == "/v2/live", "no such path")
        body = await request.json()
        self.expect(body.get("encoding") == "wav/pcm" and body.get("model"), f"settings: {body}")
        self.requests.append(body)
        address = f"ws://{request.host}/v2/session?token={self.key}"
        return web.json_response({"id": "1", "url": address})

    def opened(self, request: web.Request) -> Listener:
        self.expect(request.path == "/v2/session", "no such path")
        return Listener(self.script, self.requests[-1]["sample_rate"])

    async def received(self, ws: web.WebSocketResponse, session: Listener, message: Any) -> None:
        if message["type"] == "stop_recording":
            await ws.close()
            return
        self.expect(message["type"] == "audio_chunk", f"message: {message}")
        for event, text in session.take(base64.b64decode(message["data"]["chunk"])):
            if event == "started":
                await ws.send_json({"type": "speech_start", "data": {"time": 0}})
                continue
            utterance = {"text": text, "language": "en", "start": 0, "end": 1, "words": []}
            data = {"id": "1", "is_final": event == "ended", "utterance": utterance}
            await ws.send_json({"type": "transcript", "data": data})
            if event == "ended":
                await ws.send_json({"type": "speech_end", "data": {"time": 1}})
