"""https://docs.neuphonic.com/api-reference/tts/websocket"""

import base64
from typing import Any

from aiohttp import web

from vbot.testing.stand_in import WebSocketService, pieces


class NeuphonicSpeech(WebSocketService):
    """Streaming text to speech, which speaks what it was told at every <STOP>."""

    def opened(self, request: web.Request) -> tuple[int, list[str]]:
        query = dict(request.query)
        self.expect(request.path == f"/speak/{query.get('lang_code')}", "no such path")
        self.expect(query.get("voice_id"), "no voice")
        self.expect(query.get("encoding") == "pcm_linear", "not asked for samples")
        rate = int(query["sampling_rate"])
        self.expect(rate in (8000, 16000, 22050), f"{rate} samples a second")
        return rate, []  # texts that were not spoken yet

    async def received(
        self, ws: web.WebSocketResponse, session: tuple[int, list[str]], message: Any
    ) -> None:
        rate, texts = session
        text, stop, _ = message["text"].partition("<STOP>")
        texts.append(text)
        text = "".join(texts).strip()
        if not stop or not text:
            return
        texts.clear()
        self.requests.append({"text": text})
        for piece in pieces(self.script.voice(text, rate), rate):
            data = {"audio": base64.b64encode(piece).decode(), "sampling_rate": rate}
            await ws.send_json({"status_code": 200, "data": data | {"text": text}})
