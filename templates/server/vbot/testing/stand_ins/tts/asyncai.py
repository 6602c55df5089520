"""https://docs.async.com"""

import base64
from typing import Any

from aiohttp import web

from vbot.testing.stand_in import WebSocketService, pieces


class AsyncSpeech(WebSocketService):
    """Streaming text to speech of Async, in several contexts."""

    def opened(self, request: web.Request) -> dict[str, Any]:
        query = request.query
        self.expect(request.path == "/text_to_speech/websocket/ws", "no such path")
        self.expect(query.get("api_key") == self.key and query.get("version"), "no key or version")
        return {}  # the format, and by context the texts that were not spoken yet

    async def received(
        self, ws: web.WebSocketResponse, session: dict[str, Any], message: Any
    ) -> None:
        if not session:
            form = session["format"] = message["output_format"]
            self.expect((form["container"], form["encoding"]) == ("raw", "pcm_s16le"), f"{form}")
            self.expect(message["model_id"] and message["voice"]["id"], "no model or voice")
            return
        if message.get("terminate"):
            await ws.close()
        elif message.get("close_context"):
            session.pop(message["context_id"], None)
            end = {"context_id": message["context_id"], "audio": "", "final": True}
            await ws.send_json(end)
        elif text := message["transcript"].strip():
            self.requests.append(message)
            self.expect(message.get("force"), "not asked to speak immediately")
            rate = session["format"]["sample_rate"]
            whose = {"context_id": message["context_id"], "final": False}
            for piece in pieces(self.script.voice(text, rate), rate):
                await ws.send_json(whose | {"audio": base64.b64encode(piece).decode()})
