"""https://docs.bland.ai/api-v2/post/tts-ws"""

from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from vbot.testing.stand_in import WebSocketService, pieces


@dataclass
class BlandSession:
    """One connection: its samples a second, and by context the text that was not spoken yet."""

    rate: int = 0
    texts: dict[str, str] = field(default_factory=dict)


class BlandSpeech(WebSocketService):
    """Streaming text to speech, turn by turn."""

    def opened(self, request: web.Request) -> BlandSession:
        self.expect(request.path == "/v2/tts/ws", "no such path")
        return BlandSession()

    async def received(
        self, ws: web.WebSocketResponse, session: BlandSession, message: Any
    ) -> None:
        if message["type"] == "init":
            form = message["audio"]
            self.expect(len(message.get("voice", "")) == 36, "the voice is no UUID")
            self.expect(form["encoding"] == "pcm_s16le", f"format: {form}")
            session.rate = form["sample_rate"]
            self.expect(session.rate in (8000, 16000, 24000, 44100, 48000), f"format: {form}")
            await ws.send_json({"type": "ready", "session_id": "1"} | form)
            return
        self.expect(session.rate, "no init first")
        context = message.get("context_id", "")
        whose = {"context_id": context}
        match message["type"]:
            case "speak":
                if context not in session.texts:
                    await ws.send_json(whose | {"type": "utterance_start"})
                session.texts[context] = session.texts.get(context, "") + message["text"]
            case "end_of_turn":
                text = session.texts.pop(context, "").strip()
                self.expect(text, "the turn has no text")
                self.requests.append(whose | {"text": text})
                for piece in pieces(self.script.voice(text, session.rate), session.rate):
                    await ws.send_bytes(piece)
                await ws.send_json(whose | {"type": "utterance_end", "reason": "complete"})
            case "cancel":
                if session.texts.pop(context, ""):
                    await ws.send_json(whose | {"type": "utterance_end", "reason": "cancelled"})
            case "close":
                await ws.send_json({"type": "done", "session_id": "1"})
            case other:
                self.expect(False, f"message of type {other}")
