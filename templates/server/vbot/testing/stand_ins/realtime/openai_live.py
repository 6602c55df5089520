"""https://platform.openai.com/docs/guides/realtime: sessions of the Live API"""

import asyncio
import base64
from typing import Any

from aiohttp import web

from vbot.testing.stand_in import Listener, WebSocketService, pieces


class OpenAILive(WebSocketService):
    """Hears and speaks at the same time, without turns."""

    def opened(self, request: web.Request) -> Listener:
        self.expect(request.path == "/v1/live/sessions", "no such path")
        return Listener(self.script, 24000)

    async def received(self, ws: web.WebSocketResponse, session: Listener, message: Any) -> None:
        kind = message["type"]
        if kind == "session.input_audio.append":
            self.expect(self.requests, "audio before the session")
            for event, text in session.take(base64.b64decode(message["audio"])):
                if event == "ended":
                    await ws.send_json({"type": "session.input_transcript.delta", "delta": text})
                    self.script.conversation.append(("user", text))
                    await self._speak(ws, self.script.reply().say)
            return
        self.requests.append(message)
        if kind == "session.start":
            settings = message["session"]
            self.script.instruction = settings.get("instructions") or ""
            delegated = (settings.get("delegation") or {}).get("responses") or {}
            self.script.tools = [tool["name"] for tool in delegated.get("tools") or []]
            started = {"id": "1", "status": "active"} | settings
            await ws.send_json({"type": "session.started", "session": started})
        elif kind == "session.commentary.append":
            await self._speak(ws, self.script.greeting)
        else:
            self.expect(kind == "session.close", f"message: {message}")
            await ws.send_json({"type": "session.closed", "reason": "closed"})

    async def _speak(self, ws: web.WebSocketResponse, text: str) -> None:
        self.script.conversation.append(("assistant", text))
        await ws.send_json({"type": "session.output_transcript.delta", "delta": text})
        for piece in pieces(self.script.voice(text, 24000), 24000):
            delta = base64.b64encode(piece).decode()
            await ws.send_json({"type": "session.output_audio.delta", "delta": delta})
            await asyncio.sleep(0.2)  # as long as it lasts
