"""https://www.assemblyai.com/docs/api-reference/streaming-api/streaming-api"""

from typing import Any

from aiohttp import web

from vbot.testing.stand_in import Listener, WebSocketService


class AssemblyAI(WebSocketService):
    """Streaming speech to text, in turns that the bot or the service ends."""

    def opened(self, request: web.Request) -> Listener:
        query = dict(request.query)
        self.expect(request.path == "/v3/ws", "no such path")
        self.expect(query.get("encoding") == "pcm_s16le", f"query: {query}")
        self.requests.append(query)
        return Listener(self.script, int(query["sample_rate"]))

    async def begin(self, ws: web.WebSocketResponse, session: Listener) -> None:
        await ws.send_json({"type": "Begin", "id": "1", "expires_at": 2_000_000_000})

    async def received(self, ws: web.WebSocketResponse, session: Listener, message: Any) -> None:
        if isinstance(message, bytes):
            for event, text in session.take(message):
                if event == "started":
                    await ws.send_json({"type": "SpeechStarted", "timestamp": 0})
                else:
                    await self._turn(ws, text, ended=event == "ended")
        elif message["type"] == "ForceEndpoint":
            await self._turn(ws, session.end(), ended=True)
        elif message["type"] == "Terminate":
            seconds = {"audio_duration_seconds": 1, "session_duration_seconds": 1}
            await ws.send_json({"type": "Termination"} | seconds)
            await ws.close()
        else:
            self.expect(message["type"] == "UpdateConfiguration", f"message: {message}")

    async def _turn(self, ws: web.WebSocketResponse, text: str, ended: bool) -> None:
        word = {"start": 0, "end": 100, "confidence": 0.99, "word_is_final": ended}
        turn = {
            "turn_order": 0,
            "turn_is_formatted": ended,
            "end_of_turn": ended,
            "transcript": text,
            "end_of_turn_confidence": 0.9 if ended else 0.1,
            "words": [word | {"text": part} for part in text.split()],
        }
        await ws.send_json({"type": "Turn"} | turn)
