"""https://elevenlabs.io/docs/api-reference/websocket"""

import base64
from itertools import pairwise
from typing import Any

from aiohttp import web

from vbot.testing.stand_in import WebSocketService


class ElevenLabsSpeech(WebSocketService):
    """Streaming text to speech in several contexts, with the times of characters."""

    def opened(self, request: web.Request) -> tuple[int, set[str]]:
        query = dict(request.query)
        parts = request.path.split("/")
        self.expect(parts[:3] == ["", "v1", "text-to-speech"], "no such path")
        self.expect(len(parts) == 5 and parts[3] and parts[4] == "multi-stream-input", "no voice")
        self.expect(query.get("model_id"), "no model")
        # Without it, the service collects text before it speaks.
        self.expect(query.get("auto_mode") == "true", "no auto mode")
        form, _, rate = query["output_format"].partition("_")
        self.expect(form == "pcm", f"format: {query['output_format']}")
        return int(rate), set()  # the contexts that are open

    async def received(
        self, ws: web.WebSocketResponse, session: tuple[int, set[str]], message: Any
    ) -> None:
        rate, contexts = session
        if message.get("close_socket"):
            await ws.close()
            return
        context = message.get("context_id", "default")
        if message.get("close_context"):
            if context in contexts:
                contexts.remove(context)
                await ws.send_json({"audio": None, "isFinal": True, "contextId": context})
            return
        text = message.get("text", "")
        if context not in contexts and text:
            self.expect(text == " ", f"the first text of a context is {text!r}")
            contexts.add(context)
        elif text.strip():
            self.requests.append(message)
            pcm = self.script.voice(text.strip(), rate)
            chars = [*text.rstrip(), " "]
            each = len(pcm) / 2 / rate * 1000 / len(chars)
            starts = [round(n * each) for n in range(len(chars) + 1)]
            alignment = {
                "chars": chars,
                "charStartTimesMs": starts[:-1],
                "charDurationsMs": [end - start for start, end in pairwise(starts)],
            }
            audio = base64.b64encode(pcm).decode()
            await ws.send_json({"audio": audio, "alignment": alignment, "contextId": context})
