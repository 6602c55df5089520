"""https://waves-docs.smallest.ai/v4.x/content/api-references/websocket"""

import base64
from typing import Any

from aiohttp import web

from vbot.testing.stand_in import WebSocketService, pieces, word_times


class SmallestSpeech(WebSocketService):
    """Streaming text to speech, with the times of words, which begin anew with every text."""

    def opened(self, request: web.Request) -> None:
        self.expect(request.path == "/waves/v1/tts/live", "no such path")

    async def received(self, ws: web.WebSocketResponse, session: None, message: Any) -> None:
        self.expect(message.get("voice_id") and message.get("model"), "no voice or model")
        text = message["text"].strip()
        if text:
            self.expect(message.get("output_format") == "pcm", "not asked for samples")
            self.expect(message.get("word_timestamps"), "not asked for the times of words")
            self.requests.append(message)
            await self._speak(ws, text, message["sample_rate"])
        if message.get("continue") is False:
            await ws.send_json({"status": "complete", "request_id": f"{len(self.requests)}"})

    async def _speak(self, ws: web.WebSocketResponse, text: str, rate: int) -> None:
        whose = {"request_id": f"{len(self.requests)}"}
        pcm = self.script.voice(text, rate)
        times = word_times(text, pcm, rate)
        ends = [*[start for _, start in times[1:]], len(pcm) / 2 / rate]
        for number, ((word, start), end) in enumerate(zip(times, ends, strict=True)):
            data = {"id": number, "word": word, "start": start, "end": end}
            await ws.send_json(whose | {"status": "word_timestamp", "data": data})
        for piece in pieces(pcm, rate):
            data = {"audio": base64.b64encode(piece).decode()}
            await ws.send_json(whose | {"status": "chunk", "data": data})
