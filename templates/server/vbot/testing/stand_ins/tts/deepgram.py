"""https://developers.deepgram.com/reference/text-to-speech/speak-streaming"""

from typing import Any

from aiohttp import web

from vbot.testing.stand_in import WebSocketService, pieces


class DeepgramSpeech(WebSocketService):
    """Streaming text to speech of Aura, which speaks what it was told at every flush."""

    def opened(self, request: web.Request) -> tuple[int, list[str]]:
        query = dict(request.query)
        self.expect(request.path == "/v1/speak", "no such path")
        self.expect(query.get("model", "").startswith("aura-"), f"model: {query.get('model')}")
        self.expect(query.get("encoding") == "linear16", "not asked for samples")
        return int(query["sample_rate"]), []  # texts that were not spoken yet

    async def begin(self, ws: web.WebSocketResponse, session: Any) -> None:
        about = {"request_id": "1", "model_name": "stand-in", "model_version": "1"}
        await ws.send_json({"type": "Metadata"} | about)

    async def received(
        self, ws: web.WebSocketResponse, session: tuple[int, list[str]], message: Any
    ) -> None:
        rate, texts = session
        match message["type"]:
            case "Speak":
                self.requests.append(message)
                texts.append(message["text"])
                self.expect(len("".join(texts)) <= 2000, "too much text before a flush")
            case "Flush":
                text = "".join(texts).strip()
                texts.clear()
                for piece in pieces(self.script.voice(text, rate) if text else b"", rate):
                    await ws.send_bytes(piece)
                await ws.send_json({"type": "Flushed", "sequence_id": 0})
            case "Clear":
                texts.clear()
                await ws.send_json({"type": "Cleared", "sequence_id": 0})
            case "Close":
                await ws.close()
            case other:
                self.expect(False, f"message of type {other}")
