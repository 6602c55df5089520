"""https://docs.rime.ai/api-reference/websockets-json"""

import base64
from typing import Any

from aiohttp import web

from vbot.testing.stand_in import WebSocketService, pieces, word_times


class RimeSpeech(WebSocketService):
    """Streaming text to speech, with the times of words, which begin anew with every sentence."""

    def opened(self, request: web.Request) -> tuple[int, dict[str, str]]:
        query = dict(request.query)
        self.expect(request.path == "/ws3", "no such path")
        self.expect(query.get("speaker") and query.get("modelId"), "no voice or model")
        self.expect(query.get("audioFormat") == "pcm", "not asked for samples")
        return int(query["samplingRate"]), {}  # the context, and what it has not spoken yet

    async def received(
        self, ws: web.WebSocketResponse, session: tuple[int, dict[str, str]], message: Any
    ) -> None:
        rate, texts = session
        if "text" in message:
            self.requests.append(message)
            context = message["contextId"]
            text = texts.get(context, "") + message["text"]
            whole = text.rstrip().endswith((".", "?", "!"))
            texts[context] = "" if whole else text
            if whole:
                await self._speak(ws, rate, context, text)
            return
        match message["operation"]:
            case "flush":
                for context, text in texts.items():
                    if text.strip():
                        await self._speak(ws, rate, context, text)
                    await ws.send_json({"type": "done", "done": True, "contextId": context})
                texts.clear()
            case "clear":
                texts.clear()
            case "eos":
                await ws.close()
            case other:
                self.expect(False, f"operation {other}")

    async def _speak(self, ws: web.WebSocketResponse, rate: int, context: str, text: str) -> None:
        pcm = self.script.voice(text.strip(), rate)
        times = word_times(text, pcm, rate)
        starts = [start for _, start in times]
        words = {
            "words": [word for word, _ in times],
            "start": starts,
            "end": [*starts[1:], len(pcm) / 2 / rate],
        }
        whose = {"contextId": context}
        await ws.send_json(whose | {"type": "timestamps", "word_timestamps": words})
        for piece in pieces(pcm, rate):
            data = base64.b64encode(piece).decode()
            await ws.send_json(whose | {"type": "chunk", "data": data})
