"""https://elevenlabs.io/docs/api-reference/speech-to-text/v-1-speech-to-text-realtime"""

import base64
from typing import Any

from aiohttp import web

from vbot.testing.stand_in import Listener, WebSocketService


class ElevenLabsStreaming(WebSocketService):
    """Streaming speech to text, which the bot tells when a sentence has ended."""

    def opened(self, request: web.Request) -> Listener:
        query = dict(request.query)
        self.expect(request.path == "/v1/speech-to-text/realtime", "no such path")
        self.expect(query.get("model_id"), f"query: {query}")
        self.requests.append(query)
        return Listener(self.script, int(query["audio_format"].removeprefix("pcm_")))

    async def begin(self, ws: web.WebSocketResponse, session: Listener) -> None:
        await ws.send_json({"message_type": "session_started", "session_id": "1", "config": {}})

    async def received(self, ws: web.WebSocketResponse, session: Listener, message: Any) -> None:
        self.expect(message["message_type"] == "input_audio_chunk", f"message: {message}")
        for event, text in session.take(base64.b64decode(message["audio_base_64"])):
            if event == "partial":
                await ws.send_json({"message_type": "partial_transcript", "text": text})
        if message["commit"]:
            text = session.end()
            await ws.send_json({"message_type": "committed_transcript", "text": text})
