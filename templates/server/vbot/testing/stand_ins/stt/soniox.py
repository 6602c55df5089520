"""https://soniox.com/docs/stt/api-reference/websocket-api"""

from typing import Any

from aiohttp import web

from vbot.testing.stand_in import Listener, WebSocketService


class SonioxTranscription(WebSocketService):
    """Streaming speech to text, in tokens, which the bot tells when a sentence has ended."""

    def opened(self, request: web.Request) -> list[Listener]:
        self.expect(request.path == "/transcribe-websocket", "no such path")
        return []

    async def received(
        self, ws: web.WebSocketResponse, session: list[Listener], message: Any
    ) -> None:
        if isinstance(message, bytes):
            self.expect(session, "audio before its format")
            for event, text in session[0].take(message):
                if event != "started":
                    await self._tokens(ws, text, "<end>" if event == "ended" else "")
        elif isinstance(message, str):
            await ws.close()  # an empty message ends the session
        elif "audio_format" in message:
            self.expect(message["audio_format"] == "pcm_s16le" and message["model"], f"{message}")
            self.requests.append(message)
            session.append(Listener(self.script, message["sample_rate"]))
        elif message["type"] == "finalize":
            await self._tokens(ws, session[0].end(), "<fin>")
        else:
            self.expect(message["type"] == "keepalive", f"message: {message}")

    async def _tokens(self, ws: web.WebSocketResponse, text: str, end: str) -> None:
        words = [f" {word}" if n else word for n, word in enumerate(text.split())]
        tokens = [{"text": word, "is_final": bool(end), "confidence": 0.99} for word in words]
        if end:
            tokens.append({"text": end, "is_final": True, "confidence": 1.0})
        await ws.send_json({"tokens": tokens, "total_audio_proc_ms": 1000})
