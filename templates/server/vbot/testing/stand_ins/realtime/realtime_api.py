"""https://platform.openai.com/docs/api-reference/realtime-server-events"""

import base64
import json
from typing import Any

from aiohttp import web

from vbot.testing.stand_in import Listener, Reply, WebSocketService, pieces


class Conversation:
    """One connection: its settings, what is heard on it, and how many answers there were."""

    def __init__(self, ear: Listener, rate: int) -> None:
        self.ear, self.rate = ear, rate  # the rate of what is said
        self.settings: dict[str, Any] = {}
        self.responses = 0
        self.tool_answered = False


class RealtimeAPI(WebSocketService):
    """Hears, thinks and speaks, by the API of OpenAI: it decides when a turn has ended."""

    path = "/v1/realtime"
    audio = "response.output_audio"
    added = "conversation.item.added"

    @classmethod
    def client(cls, address: str, system_instruction: str) -> Any:
        from pipecat.services.openai.realtime.llm import OpenAIRealtimeLLMService

        return OpenAIRealtimeLLMService(
            api_key="none",
            base_url=f"ws://{address}/v1/realtime",
            settings=OpenAIRealtimeLLMService.Settings(system_instruction=system_instruction),
        )

    def rates(self, session: dict[str, Any]) -> tuple[int, int]:
        """The rates of what the bot sends and of what it wants, in samples a second."""
        audio = session.get("audio") or {}
        formats = [(audio.get(way) or {}).get("format") or {} for way in ("input", "output")]
        for form in formats:
            self.expect(form.get("type", "audio/pcm") == "audio/pcm", f"format: {form}")
        return formats[0].get("rate", 24000), formats[1].get("rate", 24000)

    def opened(self, request: web.Request) -> Conversation:
        self.expect(request.path == self.path, "no such path")
        return Conversation(Listener(self.script, 24000), 24000)

    async def begin(self, ws: web.WebSocketResponse, session: Conversation) -> None:
        await self._send(ws, "session.created", session={"type": "realtime"})

    async def received(
        self, ws: web.WebSocketResponse, session: Conversation, message: Any
    ) -> None:
        kind = message["type"]
        if kind == "input_audio_buffer.append":
            await self._listen(ws, session, base64.b64decode(message["audio"]))
            return
        self.requests.append(message)
        if kind == "session.update":
            settings = message["session"]
            session.settings |= settings
            session.ear.rate, session.rate = self.rates(session.settings)
            self.script.instruction = session.settings.get("instructions") or ""
            self.script.tools = [tool["name"] for tool in session.settings.get("tools") or []]
            await self._send(ws, "session.updated", session=settings)
        elif kind == "conversation.item.create":
            item = {"object": "realtime.item", "status": "completed"} | message["item"]
            if item["type"] == "function_call_output":
                self.script.results.append(item["output"])
                session.tool_answered = True
            await self._send(ws, self.added, item=item, **self._place(session))
        elif kind == "response.create":
            answered, session.tool_answered = session.tool_answered, False
            await self._respond(ws, session, self.script.reply(answered))
        else:
            known = ("conversation.item.truncate", "input_audio_buffer.clear", "response.cancel")
            self.expect(kind in known, f"message: {message}")

    async def _listen(self, ws: web.WebSocketResponse, session: Conversation, pcm: bytes) -> None:
        kind = "input_audio_buffer"
        for event, text in session.ear.take(pcm):
            if event == "started":
                await self._send(ws, f"{kind}.speech_started", audio_start_ms=0, item_id="heard")
            elif event == "ended":
                await self._send(ws, f"{kind}.speech_stopped", audio_end_ms=0, item_id="heard")
                done = "conversation.item.input_audio_transcription.completed"
                heard = {"item_id": "heard", "content_index": 0, "transcript": text}
                await self._send(ws, done, **heard)
                self.script.conversation.append(("user", text))
                await self._respond(ws, session, self.script.reply())

    async def _respond(
        self, ws: web.WebSocketResponse, session: Conversation, reply: Reply
    ) -> None:
        session.responses += 1
        place = self._place(session)
        response = {"id": place["response_id"], "object": "realtime.response"}
        item: dict[str, Any] = {"id": f"item_{session.responses}", "object": "realtime.item"}
        await self._send(ws, "response.created", response=response | {"status": "in_progress"})
        if reply.call:
            call = {"name": reply.call, "call_id": f"call_{session.responses}"}
            item |= {"type": "function_call", "status": "in_progress", "arguments": ""} | call
            await self._send(ws, self.added, item=item, **place)
            arguments = json.dumps(reply.arguments)
            done = {"item_id": item["id"], "call_id": call["call_id"], "arguments": arguments}
            kind = "response.function_call_arguments.done"
            await self._send(ws, kind, **place, **done, name=reply.call)
        else:
            item |= {"type": "message", "role": "assistant", "content": []}
            await self._send(ws, self.added, item=item, **place)
            await self._speak(ws, session, reply.say, place | {"item_id": item["id"]})
            self.script.conversation.append(("assistant", reply.say))
        usage = {"total_tokens": 15, "input_tokens": 10, "output_tokens": 5}
        done = {"status": "completed", "output": [], "usage": usage}
        await self._send(ws, "response.done", response=response | done)

    async def _speak(
        self, ws: web.WebSocketResponse, session: Conversation, text: str, place: dict[str, Any]
    ) -> None:
        place |= {"content_index": 0}
        for number, word in enumerate(text.split(" ")):
            delta = f" {word}" if number else word
            await self._send(ws, f"{self.audio}_transcript.delta", **place, delta=delta)
        for piece in pieces(self.script.voice(text, session.rate), session.rate):
            delta = base64.b64encode(piece).decode()
            await self._send(ws, f"{self.audio}.delta", **place, delta=delta)
        await self._send(ws, f"{self.audio}.done", **place)

    def _place(self, session: Conversation) -> dict[str, Any]:
        return {"response_id": f"response_{session.responses}", "output_index": 0}

    async def _send(self, ws: web.WebSocketResponse, kind: str, **rest: Any) -> None:
        await ws.send_json({"type": kind, "event_id": "1"} | rest)
