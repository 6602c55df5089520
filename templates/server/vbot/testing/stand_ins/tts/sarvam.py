"""https://docs.sarvam.ai/api-reference-docs/text-to-speech/stream"""

import base64
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from vbot.testing.stand_in import WebSocketService, pieces


@dataclass
class SarvamTurn:
    """What was configured, and what was not spoken yet."""

    rate: int = 0
    text: str = ""


class SarvamSpeech(WebSocketService):
    """Streaming text to speech of Indian languages."""

    def opened(self, request: web.Request) -> SarvamTurn:
        query = dict(request.query)
        self.expect(request.path == "/text-to-speech/ws", "no such path")
        self.expect(query.get("model", "").startswith("bulbul:"), f"model: {query.get('model')}")
        # Without it, nothing says when everything was spoken.
        self.expect(query.get("send_completion_event") == "true", "no event at the end")
        return SarvamTurn()

    async def received(self, ws: web.WebSocketResponse, session: SarvamTurn, message: Any) -> None:
        data = message.get("data", {})
        if message["type"] == "config":
            self.expect(data["output_audio_codec"] == "linear16", "not asked for samples")
            self.expect(data["speaker"] and "-IN" in data["target_language_code"], f"{data}")
            session.rate = int(data["speech_sample_rate"])
            return
        self.expect(session.rate, "not configured first")
        if message["type"] == "text":
            self.requests.append(message)
            session.text += data["text"] + " "
        elif message["type"] == "flush":
            text, session.text = session.text.strip(), ""
            if text:
                await self._speak(ws, session.rate, text)
        else:
            self.expect(message["type"] == "ping", f"message: {message}")

    async def _speak(self, ws: web.WebSocketResponse, rate: int, text: str) -> None:
        about = {"content_type": "audio/l16", "request_id": "1"}
        for piece in pieces(self.script.voice(text, rate), rate):
            audio = {"audio": base64.b64encode(piece).decode()}
            await ws.send_json({"type": "audio", "data": about | audio})
        await ws.send_json({"type": "event", "data": {"event_type": "final"}})
