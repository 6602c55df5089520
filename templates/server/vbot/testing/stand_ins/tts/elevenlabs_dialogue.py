"""https://elevenlabs.io/docs/api-reference/text-to-dialogue"""

import base64
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from aiohttp import web

from vbot.testing.stand_in import WebSocketService


@dataclass
class Dialogue:
    """One connection: what each open context may speak with, and has not spoken yet."""

    rate: int
    voices: dict[str, list[str]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)


class ElevenLabsDialogue(WebSocketService):
    """Streaming text to dialogue in several contexts, with the times of characters."""

    def opened(self, request: web.Request) -> Dialogue:
        query = dict(request.query)
        self.expect(request.path == "/v1/text-to-dialogue/multi-stream-input", "no such path")
        model = query.get("model_id", "")
        self.expect(model.startswith(("eleven_v3", "eleven_v4")), f"model: {model}")
        # Without it, the times of characters come later than the audio.
        self.expect(query.get("sync_alignment") == "true", "no times with the audio")
        form, _, rate = query["output_format"].partition("_")
        self.expect(form == "pcm", f"format: {query['output_format']}")
        return Dialogue(int(rate))

    async def received(self, ws: web.WebSocketResponse, session: Dialogue, message: Any) -> None:
        if message.get("close_socket"):
            await ws.close()
            return
        context = message["context_id"]
        if voices := message.get("voices"):
            self.expect(context not in session.voices, "the context is open already")
            session.voices[context], session.texts[context] = voices, ""
            return
        self.expect(context in session.voices, "the context has no voices")
        for one in message.get("inputs", []):
            self.expect(one["voice_id"] in session.voices[context], "not a voice of the context")
            self.requests.append(message)
            session.texts[context] += one["text"]
        ends = message.get("close_context") or message.get("flush")
        text = session.texts[context]
        if text.strip() and (ends or (len(text) >= 40 and len(text.split()) >= 8)):
            session.texts[context] = ""
            await self._speak(ws, session.rate, context, text)
        if message.get("close_context"):
            del session.voices[context], session.texts[context]
            await ws.send_json({"audio": None, "is_final": True, "context_id": context})

    async def _speak(self, ws: web.WebSocketResponse, rate: int, context: str, text: str) -> None:
        pcm = self.script.voice(text.strip(), rate)
        each = len(pcm) / 2 / rate * 1000 / len(text)
        starts = [round(n * each) for n in range(len(text) + 1)]
        alignment = {
            "chars": list(text),
            "char_start_times_ms": starts[:-1],
            "char_durations_ms": [end - start for start, end in pairwise(starts)],
        }
        audio = base64.b64encode(pcm).decode()
        await ws.send_json({"audio": audio, "alignment": alignment, "context_id": context})
        await ws.send_json({"is_final_audio_for_turn": True, "context_id": context})
