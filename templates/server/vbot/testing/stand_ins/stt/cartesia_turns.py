"""https://docs.cartesia.ai/api-reference/stt/turns"""

from typing import Any

from aiohttp import web

from vbot.testing.stand_in import Listener, WebSocketService


class CartesiaTurns(WebSocketService):
    """Streaming speech to text that decides itself when a turn begins and ends."""

    def opened(self, request: web.Request) -> Listener:
        query = dict(request.query)
        self.expect(request.path == "/stt/turns/websocket", "no such path")
        self.expect(query.get("encoding") == "pcm_s16le" and query.get("model"), f"query: {query}")
        self.requests.append(query)
        return Listener(self.script, int(query["sample_rate"]))

    async def begin(self, ws: web.WebSocketResponse, session: Listener) -> None:
        await ws.send_json({"type": "connected", "request_id": "1"})

    async def received(self, ws: web.WebSocketResponse, session: Listener, message: Any) -> None:
        events = {"started": "turn.start", "partial": "turn.update", "ended": "turn.end"}
        if isinstance(message, bytes):
            for event, text in session.take(message):
                await ws.send_json({"type": events[event], "request_id": "1", "transcript": text})
        else:
            self.expect(message["type"] == "close", f"message: {message}")
            await ws.close()
