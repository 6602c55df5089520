"""https://ai.google.dev/api/live"""

import base64
import json
from typing import Any

from aiohttp import web

from vbot.testing.stand_in import Listener, Reply, WebSocketService, pieces

SPOKEN = 24000  # samples a second of what Gemini says


class GeminiLive(WebSocketService):
    """Hears, thinks and speaks: it decides when a turn has ended."""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if self.failing != 401:
            return await super().answer(request)
        ws = web.WebSocketResponse()  # it lets everybody in, and then looks at the key
        await ws.prepare(request)
        await ws.close(code=1007, message=b"API key not valid. Please pass a valid API key.")
        return ws

    def opened(self, request: web.Request) -> Listener:
        self.expect(request.path.endswith(".BidiGenerateContent"), "no such path")
        return Listener(self.script, 16000)

    async def received(self, ws: web.WebSocketResponse, session: Listener, message: Any) -> None:
        if isinstance(message, bytes):  # the framework's client sends JSON either way
            self.expect(False, "bytes")
        elif setup := message.get("setup"):
            self.requests.append(setup)
            told = setup.get("systemInstruction") or {"parts": []}
            self.script.instruction = " ".join(part["text"] for part in told["parts"])
            tools = [tool.get("functionDeclarations") or [] for tool in setup.get("tools") or []]
            self.script.tools = [tool["name"] for declared in tools for tool in declared]
            await ws.send_json({"setupComplete": {}})
        elif answer := message.get("tool_response"):
            for result in answer["functionResponses"]:
                self.script.results.append(json.dumps(result["response"]))
            await self._answer(ws, self.script.reply(tool_answered=True))
        elif content := message.get("client_content"):
            if content.get("turnComplete"):
                await self._answer(ws, self.script.reply())
        else:
            await self._listen(ws, session, message["realtime_input"])

    async def _listen(
        self, ws: web.WebSocketResponse, session: Listener, given: dict[str, Any]
    ) -> None:
        if text := given.get("text"):
            self.requests.append({"text": text})
            await self._answer(ws, self.script.reply())
        if audio := given.get("audio"):
            kind, _, rate = audio["mime_type"].partition(";rate=")
            self.expect(kind == "audio/pcm", f"audio: {kind}")
            session.rate = int(rate)
            for event, text in session.take(base64.urlsafe_b64decode(audio["data"])):
                if event == "started":
                    await self._content(ws, interrupted=True)
                elif event == "ended":
                    await self._content(ws, inputTranscription={"text": text})
                    self.script.conversation.append(("user", text))
                    await self._answer(ws, self.script.reply())

    async def _answer(self, ws: web.WebSocketResponse, reply: Reply) -> None:
        if reply.call:
            call = {"id": f"call_{len(self.script.results)}", "name": reply.call}
            calls = [call | {"args": reply.arguments}]
            await ws.send_json({"toolCall": {"functionCalls": calls}})
            return
        self.script.conversation.append(("assistant", reply.say))
        await self._content(ws, outputTranscription={"text": reply.say})
        for piece in pieces(self.script.voice(reply.say, SPOKEN), SPOKEN):
            data = {"mimeType": "audio/pcm;rate=24000", "data": base64.b64encode(piece).decode()}
            await self._content(ws, modelTurn={"role": "model", "parts": [{"inlineData": data}]})
        await self._content(ws, generationComplete=True)
        await self._content(ws, turnComplete=True)

    async def _content(self, ws: web.WebSocketResponse, **content: Any) -> None:
        await ws.send_json({"serverContent": content})
