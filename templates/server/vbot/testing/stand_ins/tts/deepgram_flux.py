"""https://developers.deepgram.com/reference/text-to-speech/speak-flux"""

from typing import Any

from aiohttp import web

from vbot.testing.stand_in import WebSocketService, pieces


class FluxSpeech(WebSocketService):
    """Streaming text to speech of Deepgram Flux, turn by turn."""

    def opened(self, request: web.Request) -> tuple[int, list[str]]:
        query = dict(request.query)
        self.expect(request.path == "/v2/speak", "no such path")
        self.expect(query.get("model", "").startswith("flux-"), f"model: {query.get('model')}")
        self.expect(query.get("encoding") == "linear16", "not asked for samples")
        rate = int(query["sample_rate"])
        self.expect(rate in (8000, 16000, 24000, 32000, 44100, 48000), f"{rate} samples a second")
        return rate, []  # texts of the turn

    async def begin(self, ws: web.WebSocketResponse, session: Any) -> None:
        about = {"request_id": "1", "model_name": "stand-in"}
        await ws.send_json({"type": "Connected"} | about)

    async def received(
        self, ws: web.WebSocketResponse, session: tuple[int, list[str]], message: Any
    ) -> None:
        rate, texts = session
        match message["type"]:
            case "Speak":
                if not texts:
                    await ws.send_json({"type": "SpeechStarted", "speech_id": "1"})
                texts.append(message["text"])
            case "Flush":
                text = "".join(texts).strip()
                texts.clear()
                await ws.send_json({"type": "Flushed"})
                if text:
                    await self._speak(ws, rate, text)
            case "Interrupt" if texts:
                texts.clear()
                await ws.send_json({"type": "SpeechInterrupted", "speech_id": "1"})
            case "Interrupt":  # a warning is no error
                await ws.send_json({"type": "Warning", "code": "NO_ACTIVE_SPEECH"})
            case other:
                self.expect(False, f"message of type {other}")

    async def _speak(self, ws: web.WebSocketResponse, rate: int, text: str) -> None:
        self.requests.append({"text": text})
        pcm = self.script.voice(text, rate)
        for piece in pieces(pcm, rate):
            await ws.send_bytes(piece)
        end = {"speech_id": "1", "audio_duration_ms": round(len(pcm) / 2 / rate * 1000)}
        await ws.send_json({"type": "SpeechMetadata", "billable_character_count": len(text)} | end)
