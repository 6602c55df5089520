"""https://docs.gradium.ai"""

import base64
from typing import Any

from aiohttp import web

from vbot.testing.stand_in import WebSocketService, pieces, word_times


class GradiumSpeech(WebSocketService):
    """Streaming text to speech at 48 kHz, with the times of words, which go on in a request."""

    rate = 48000  # of the format "pcm"

    def opened(self, request: web.Request) -> dict[str, float]:
        self.expect(request.path == "/api/speech/tts", "no such path")
        return {}  # seconds that were spoken, by request

    async def received(
        self, ws: web.WebSocketResponse, session: dict[str, float], message: Any
    ) -> None:
        name = message["client_req_id"]
        whose = {"client_req_id": name}
        if message["type"] == "setup":
            self.expect(name not in session, "the request exists already")
            self.expect(message.get("output_format") == "pcm", "not asked for samples")
            self.expect(message.get("voice_id"), "no voice")
            # Otherwise the connection ends with the first request.
            self.expect(message.get("close_ws_on_eos") is False, "closes the connection")
            session[name] = 0.0
            await ws.send_json(whose | {"type": "ready", "request_id": name})
            return
        self.expect(name in session, "not set up first")
        if message["type"] == "text":
            self.requests.append(message)
            await self._speak(ws, session, name, message["text"])
        else:
            self.expect(message["type"] == "end_of_stream", f"message: {message}")
            del session[name]
            await ws.send_json(whose | {"type": "end_of_stream"})

    async def _speak(
        self, ws: web.WebSocketResponse, session: dict[str, float], name: str, text: str
    ) -> None:
        pcm = self.script.voice(text.strip(), self.rate)
        times = word_times(text, pcm, self.rate, session[name])
        session[name] += len(pcm) / 2 / self.rate
        whose = {"client_req_id": name}
        for word, start in times:
            await ws.send_json(whose | {"type": "text", "text": word, "start_s": start})
        for piece in pieces(pcm, self.rate):
            audio = base64.b64encode(piece).decode()
            await ws.send_json(whose | {"type": "audio", "audio": audio})
