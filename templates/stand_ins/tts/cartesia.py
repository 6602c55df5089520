"""https://docs.cartesia.ai/api-reference/tts/websocket"""

import base64
from typing import Any

from aiohttp import web
from stand_in import WebSocketService, pieces, word_times


class Cartesia(WebSocketService):
    """Streaming text to speech, with the times of words, which go on within a context."""

    def opened(self, request: web.Request) -> dict[str, float]:
        self.expect(request.path == "/tts/websocket", "no such path")
        self.expect(request.headers.get("Cartesia-Version"), "no version of the API")
        return {}  # seconds that were spoken, by context

    async def received(
        self, ws: web.WebSocketResponse, session: dict[str, float], message: Any
    ) -> None:
        if message.get("cancel"):
            return
        form, voice = message["output_format"], message["voice"]
        self.expect((form["container"], form["encoding"]) == ("raw", "pcm_s16le"), f"{form}")
        self.expect(message["model_id"], "no model")
        self.expect(voice["mode"] == "id" and voice["id"], f"voice: {voice}")
        head = {"context_id": message["context_id"], "done": False, "status_code": 206}
        if text := message["transcript"].strip():
            self.requests.append(message)
            await self._speak(ws, session, text, form["sample_rate"], head)
        if not message["continue"]:
            await ws.send_json(head | {"type": "done", "done": True, "status_code": 200})

    async def _speak(
        self,
        ws: web.WebSocketResponse,
        session: dict[str, float],
        text: str,
        rate: int,
        head: dict[str, Any],
    ) -> None:
        pcm = self.script.voice(text, rate)
        start = session.get(head["context_id"], 0.0)
        end = session[head["context_id"]] = start + len(pcm) / 2 / rate
        times = word_times(text, pcm, rate, start)
        starts = [start for _, start in times]
        words = {"words": [word for word, _ in times], "start": starts, "end": [*starts[1:], end]}
        await ws.send_json(head | {"type": "timestamps", "word_timestamps": words})
        for piece in pieces(pcm, rate):
            data = base64.b64encode(piece).decode()
            await ws.send_json(head | {"type": "chunk", "data": data, "step_time": 1.0})
