"""https://docs.cartesia.ai/api-reference/stt/stt"""

from typing import Any

from aiohttp import web

from vbot.testing.stand_in import Listener, WebSocketService


class CartesiaTranscription(WebSocketService):
    """Streaming speech to text, which the bot tells when a sentence has ended."""

    def opened(self, request: web.Request) -> Listener:
        query = dict(request.query)
        self.expect(request.path == "/stt/websocket", "no such path")
        self.expect(query.get("encoding") == "pcm_s16le" and query.get("model"), f"query: {query}")
        self.requests.append(query)
        return Listener(self.script, int(query["sample_rate"]))

    async def received(self, ws: web.WebSocketResponse, session: Listener, message: Any) -> None:
        if isinstance(message, bytes):
            for event, text in session.take(message):
                if event != "started":
                    await self._transcript(ws, text, final=event == "ended")
        elif message == "finalize":
            if text := session.end():
                await self._transcript(ws, text, final=True)
            await ws.send_json({"type": "flush_done", "request_id": "1"})
        else:
            self.expect(message == "done", f"message: {message}")
            await ws.close()

    async def _transcript(self, ws: web.WebSocketResponse, text: str, final: bool) -> None:
        head = {"type": "transcript", "request_id": "1", "language": "en", "duration": 1.0}
        await ws.send_json(head | {"text": text, "is_final": final})
