"""https://developers.deepgram.com/reference/speech-to-text/listen-flux"""

from typing import Any

from aiohttp import web

from vbot.testing.stand_in import Listener, WebSocketService


class DeepgramFlux(WebSocketService):
    """Streaming speech to text that decides itself when a turn begins and ends."""

    def opened(self, request: web.Request) -> Listener:
        query = dict(request.query)
        self.expect(request.path == "/v2/listen", "no such path")
        self.expect(query.get("encoding") == "linear16" and query.get("model"), f"query: {query}")
        self.requests.append(query)
        return Listener(self.script, int(query["sample_rate"]))

    async def begin(self, ws: web.WebSocketResponse, session: Listener) -> None:
        await ws.send_json({"type": "Connected", "request_id": "1", "sequence_id": 0})

    async def received(self, ws: web.WebSocketResponse, session: Listener, message: Any) -> None:
        events = {"started": "StartOfTurn", "partial": "Update", "ended": "EndOfTurn"}
        if isinstance(message, bytes):
            for event, text in session.take(message):
                words = [{"word": word, "confidence": 0.99} for word in text.split()]
                turn = {"event": events[event], "transcript": text, "words": words}
                await ws.send_json({"type": "TurnInfo", "turn_index": 0} | turn)
        elif message["type"] == "Configure":
            await ws.send_json({"type": "ConfigureSuccess"})
        else:
            self.expect(message["type"] == "CloseStream", f"message: {message}")
            await ws.close()
