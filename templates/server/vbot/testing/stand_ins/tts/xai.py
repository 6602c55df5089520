"""https://docs.x.ai/developers/rest-api-reference/inference/voice"""

import base64
from typing import Any

from aiohttp import web

from vbot.testing.stand_in import WebSocketService, pieces


class XAISpeech(WebSocketService):
    """Streaming text to speech, with the times of characters."""

    def opened(self, request: web.Request) -> tuple[int, list[str]]:
        query = dict(request.query)
        self.expect(request.path == "/v1/tts", "no such path")
        self.expect(query.get("voice") and query.get("language"), "no voice or language")
        self.expect(query.get("codec") == "pcm", "not asked for samples")
        self.expect(query.get("with_timestamps") == "true", "not asked for the times of words")
        return int(query["sample_rate"]), []  # texts that were not spoken yet

    async def received(
        self, ws: web.WebSocketResponse, session: tuple[int, list[str]], message: Any
    ) -> None:
        rate, texts = session
        match message["type"]:
            case "text.delta":
                self.requests.append(message)
                texts.append(message["delta"])
            case "text.done":
                text = "".join(texts)
                texts.clear()
                if text.strip():
                    await self._speak(ws, rate, text)
                await ws.send_json({"type": "audio.done", "trace_id": "1"})
            case "text.clear":
                texts.clear()
                await ws.send_json({"type": "audio.clear"})
            case other:
                self.expect(False, f"message of type {other}")

    async def _speak(self, ws: web.WebSocketResponse, rate: int, text: str) -> None:
        pcm = self.script.voice(text.strip(), rate)
        each = len(pcm) / 2 / rate / len(text)
        times = {
            "graph_chars": list(text),
            "graph_times": [[n * each, (n + 1) * each] for n in range(len(text))],
        }
        await ws.send_json({"type": "audio.delta", "delta": "", "audio_timestamps": times})
        for piece in pieces(pcm, rate):
            delta = base64.b64encode(piece).decode()
            await ws.send_json({"type": "audio.delta", "delta": delta})
