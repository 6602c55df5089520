"""https://soniox.com/docs/api-reference/tts/websocket-api"""

import base64
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from vbot.testing.stand_in import WebSocketService


@dataclass
class SonioxStream:
    """One of the streams of a connection: its samples a second, and how much was spoken."""

    rate: int
    seconds: float = 0.0


class SonioxSpeech(WebSocketService):
    """Streaming text to speech in several streams, with the times of characters."""

    def opened(self, request: web.Request) -> dict[str, SonioxStream]:
        self.expect(request.path == "/tts-websocket", "no such path")
        return {}

    async def received(
        self, ws: web.WebSocketResponse, session: dict[str, SonioxStream], message: Any
    ) -> None:
        if message == {"keep_alive": True}:
            return
        name = message["stream_id"]
        whose = {"stream_id": name}
        if "model" in message:
            self.expect(name not in session, "the stream exists already")
            self.expect(message.get("voice") and message.get("language"), "no voice or language")
            self.expect(message.get("audio_format") == "pcm_s16le", "not asked for samples")
            self.expect(message.get("return_timestamps"), "not asked for the times of words")
            session[name] = SonioxStream(message["sample_rate"])
            return
        self.expect(name in session, "no such stream")
        if text := message.get("text", ""):
            self.requests.append(message)
            await self._speak(ws, whose, session[name], text)
        if message.get("text_end"):
            await ws.send_json(whose | {"audio_end": True})
        if message.get("text_end") or message.get("cancel"):
            del session[name]
            await ws.send_json(whose | {"terminated": True})

    async def _speak(
        self, ws: web.WebSocketResponse, whose: dict[str, str], stream: SonioxStream, text: str
    ) -> None:
        pcm = self.script.voice(text.strip(), stream.rate)
        seconds = len(pcm) / 2 / stream.rate
        starts = [stream.seconds + seconds * n / len(text) for n in range(len(text))]
        stream.seconds += seconds
        times = {"characters": list(text), "character_start_times_seconds": starts}
        audio = base64.b64encode(pcm).decode()
        await ws.send_json(whose | {"audio": audio, "timestamps": times})
