"""https://docs.inworld.ai/tts/synthesize-speech-websocket"""

import base64
import re
from typing import Any

from aiohttp import web

from vbot.testing.stand_in import WebSocketService


class InworldSpeech(WebSocketService):
    """Streaming text to speech in several contexts, with the times of words."""

    def opened(self, request: web.Request) -> dict[str, int]:
        self.expect(request.path == "/tts/v1/voice:streamBidirectional", "no such path")
        return {}  # the contexts that are open, and their samples a second

    async def received(
        self, ws: web.WebSocketResponse, session: dict[str, int], message: Any
    ) -> None:
        context = message.get("contextId", "")
        if "create" in message:
            self.expect(context not in session, "the context exists already")
            session[context] = self._created(message["create"])
            await self._send(ws, context, contextCreated={})
        elif message.get("send_text") == {"text": ""}:
            pass  # keeps the connection alive
        elif context not in session:
            # The bot closes a context again where it was interrupted.
            self.expect("close_context" in message, f"no such context: {message}")
        elif "send_text" in message:
            self.requests.append(message)
            await self._speak(ws, context, message["send_text"]["text"], session[context])
        elif "flush_context" in message:
            await self._send(ws, context, flushCompleted={})
        elif "close_context" in message:
            del session[context]
            await self._send(ws, context, contextClosed={})
        else:
            self.expect(False, f"message: {message}")

    def _created(self, config: dict[str, Any]) -> int:
        self.expect(config.get("voiceId") and config.get("modelId"), "no voice or model")
        self.expect(config.get("timestampType") == "WORD", "not asked for the times of words")
        when = config.get("timestampTransportStrategy")
        self.expect(when == "ASYNC", f"times of words: {when}, not after the audio")
        self.expect(config.get("autoMode"), "not asked to speak every text immediately")
        form = config["audioConfig"]
        # LINEAR16 would have the header of a WAV file.
        self.expect(form["audioEncoding"] == "PCM", f"format: {form}")
        return form["sampleRateHertz"]

    async def _speak(self, ws: web.WebSocketResponse, context: str, text: str, rate: int) -> None:
        pcm = self.script.voice(text.strip(), rate)
        parts = re.findall(r"[\w'-]+|[^\w'-]+", text.strip())  # what is between words counts
        each = len(pcm) / 2 / rate / max(1, len(parts))
        words = {
            "words": parts,
            "wordStartTimeSeconds": [round(n * each, 3) for n in range(len(parts))],
            "wordEndTimeSeconds": [round(n * each, 3) for n in range(1, len(parts) + 1)],
        }
        audio = base64.b64encode(pcm).decode()
        await self._send(ws, context, audioChunk={"audioContent": audio})
        await self._send(ws, context, audioChunk={"timestampInfo": {"wordAlignment": words}})
        await self._send(ws, context, flushCompleted={})  # the times begin anew

    async def _send(self, ws: web.WebSocketResponse, context: str, **result: Any) -> None:
        head = {"contextId": context, "status": {"code": 0, "message": "", "details": []}}
        await ws.send_json({"result": head | result})
