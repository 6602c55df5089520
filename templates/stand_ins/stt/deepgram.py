"""https://developers.deepgram.com/reference/speech-to-text/listen-streaming"""

from typing import Any

from aiohttp import web
from stand_in import Listener, WebSocketService


class Deepgram(WebSocketService):
    """Streaming speech to text: partial results while somebody speaks, then the final one."""

    def opened(self, request: web.Request) -> Listener:
        query = dict(request.query)
        self.expect(request.path == "/v1/listen", "no such path")
        self.expect(query.get("encoding") == "linear16" and query.get("model"), f"query: {query}")
        self.requests.append(query)
        return Listener(self.script, int(query["sample_rate"]))

    async def received(self, ws: web.WebSocketResponse, session: Listener, message: Any) -> None:
        if isinstance(message, bytes):
            for event, text in session.take(message):
                if event != "started":
                    await self._results(ws, text, final=event == "ended")
        elif message["type"] == "Finalize":
            await self._results(ws, session.end(), final=True, from_finalize=True)
        elif message["type"] == "CloseStream":
            await ws.close()
        else:
            self.expect(message["type"] == "KeepAlive", f"message: {message}")

    async def _results(
        self, ws: web.WebSocketResponse, text: str, final: bool, from_finalize: bool = False
    ) -> None:
        model = {"name": "stand-in", "version": "1", "arch": "stand-in"}
        await ws.send_json(
            {
                "type": "Results",
                "channel_index": [0, 1],
                "start": 0.0,
                "duration": 1.0,
                "is_final": final,
                "speech_final": final,
                "from_finalize": from_finalize,
                "channel": {
                    "alternatives": [{"transcript": text, "confidence": 0.99, "words": []}]
                },
                "metadata": {"request_id": "1", "model_uuid": "1", "model_info": model},
            }
        )
