"""https://docs.resemble.ai"""

import base64
from typing import Any

from aiohttp import web

from vbot.testing.stand_in import WebSocketService, pieces


class ResembleSpeech(WebSocketService):
    """Streaming text to speech, with the times of characters."""

    def opened(self, request: web.Request) -> None:
        self.expect(request.path == "/stream", "no such path")

    async def received(self, ws: web.WebSocketResponse, session: None, message: Any) -> None:
        self.expect(message.get("voice_uuid"), "no voice")
        form = message.get("precision"), message.get("no_audio_header")
        self.expect(form == ("PCM_16", True), f"format: {form}")
        self.expect(message.get("binary_response") is False, "binary answers have no times")
        self.requests.append(message)
        rate, text = message["sample_rate"], message["data"].strip()
        self.expect(rate in (8000, 16000, 22050, 24000, 32000, 44100, 48000), f"rate: {rate}")
        self.expect(text, "nothing to say")
        pcm = self.script.voice(text, rate)
        each = len(pcm) / 2 / rate / len(text)  # seconds of a character
        whose = {"request_id": message["request_id"]}
        spoken = 0
        for piece in pieces(pcm, rate):
            part = range(
                len(text) * spoken // len(pcm), len(text) * (spoken + len(piece)) // len(pcm)
            )
            spoken += len(piece)
            times = {
                "graph_chars": [text[n] for n in part],
                "graph_times": [[n * each, (n + 1) * each] for n in part],
            }
            audio = {"audio_content": base64.b64encode(piece).decode(), "sample_rate": rate}
            await ws.send_json(whose | audio | {"type": "audio", "audio_timestamps": times})
        await ws.send_json(whose | {"type": "audio_end"})
