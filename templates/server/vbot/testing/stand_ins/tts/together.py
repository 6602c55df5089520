"""https://docs.together.ai/docs/inference/text-to-speech/websocket"""

import base64
from typing import Any

from aiohttp import web

from vbot.testing.stand_in import WebSocketService, pieces


class TogetherSpeech(WebSocketService):
    """Streaming text to speech at 24 kHz, which speaks what it was told at every commit."""

    rate = 24000

    def opened(self, request: web.Request) -> list[str]:
        query = dict(request.query)
        self.expect(request.path == "/v1/audio/speech/websocket", "no such path")
        self.expect(query.get("model") and query.get("voice"), "no model or voice")
        return []  # texts that were not spoken yet

    async def begin(self, ws: web.WebSocketResponse, session: Any) -> None:
        about = {"id": "1", "object": "realtime.tts.session", "modalities": ["text", "audio"]}
        await ws.send_json({"type": "session.created", "session": about})

    async def received(self, ws: web.WebSocketResponse, session: list[str], message: Any) -> None:
        match message["type"]:
            case "tts_session.updated":
                await ws.send_json({"type": "session.updated", "session": message["session"]})
            case "input_text_buffer.append":
                self.requests.append(message)
                session.append(message["text"])
                received = {"type": "conversation.item.input_text.received"}
                await ws.send_json(received | {"text": message["text"]})
            case "input_text_buffer.commit":
                text = "".join(session).strip()
                session.clear()
                if text:
                    await self._speak(ws, text)
            case "input_text_buffer.clear":
                session.clear()
            case other:
                self.expect(False, f"message of type {other}")

    async def _speak(self, ws: web.WebSocketResponse, text: str) -> None:
        kind, item = "conversation.item.audio_output", {"item_id": f"{len(self.requests)}"}
        for piece in pieces(self.script.voice(text, self.rate), self.rate):
            delta = base64.b64encode(piece).decode()
            await ws.send_json(item | {"type": f"{kind}.delta", "delta": delta})
        await ws.send_json(item | {"type": f"{kind}.done"})
