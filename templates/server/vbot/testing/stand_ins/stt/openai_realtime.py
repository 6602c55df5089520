"""https://platform.openai.com/docs/guides/realtime-transcription"""

import base64
from typing import Any

from aiohttp import web

from vbot.testing.stand_in import Listener, WebSocketService


class OpenAIStreaming(WebSocketService):
    """Streaming speech to text, which the bot tells when a sentence has ended."""

    def opened(self, request: web.Request) -> list[Listener]:
        self.expect(request.path == "/v1/realtime", "no such path")
        return []

    async def begin(self, ws: web.WebSocketResponse, session: list[Listener]) -> None:
        await ws.send_json({"type": "session.created", "session": {"type": "transcription"}})

    async def received(
        self, ws: web.WebSocketResponse, session: list[Listener], message: Any
    ) -> None:
        kind = message["type"]
        if kind == "session.update":
            audio = message["session"]["audio"]["input"]
            self.expect(audio["transcription"]["model"], "no model")
            self.requests.append(message)
            session[:] = [Listener(self.script, audio["format"]["rate"])]
            await ws.send_json({"type": "session.updated", "session": message["session"]})
        elif kind == "input_audio_buffer.append":
            self.expect(session, "audio before its format")
            for _ in session[0].take(base64.b64decode(message["audio"])):
                pass  # with turn_detection off, nothing is told before the bot asks
        elif kind == "input_audio_buffer.commit":
            text = session[0].end()
            done = "conversation.item.input_audio_transcription"
            for word in text.split():
                await ws.send_json({"type": f"{done}.delta", "item_id": "1", "delta": f"{word} "})
            await ws.send_json({"type": f"{done}.completed", "item_id": "1", "transcript": text})
        else:
            self.expect(kind == "input_audio_buffer.clear", f"message: {message}")
