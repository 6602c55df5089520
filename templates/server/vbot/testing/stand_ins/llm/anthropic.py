"""https://docs.anthropic.com/en/api/messages-streaming"""

import json
from typing import Any

from aiohttp import web

from vbot.testing.stand_in import Reply, Service


class AnthropicMessages(Service):
    """The language model, by the API of Anthropic: streams word for word."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.expect(request.path == "/v1/messages", "no such path")
        body = await request.json()
        self.expect(body.get("model") and body.get("max_tokens"), "no model, or no limit")
        self.expect(body.get("stream") is True, "not streamed")
        self.requests.append(body)
        script, messages = self.script, body["messages"]
        script.instruction = " ".join(texts(body.get("system") or ""))
        script.tools = [tool["name"] for tool in body.get("tools") or []]
        script.told([(m["role"], " ".join(texts(m["content"]))) for m in messages])
        results = [part for m in messages for part in parts(m, "tool_result")]
        script.results = [" ".join(texts(part["content"])) for part in results]
        reply = script.reply(bool(parts(messages[-1], "tool_result")))
        return await self._stream(request, body["model"], reply)

    async def _stream(self, request: web.Request, model: str, reply: Reply) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)

        async def send(kind: str, **rest: Any) -> None:
            data = json.dumps({"type": kind} | rest)
            await response.write(f"event: {kind}\ndata: {data}\n\n".encode())

        usage = {"input_tokens": 10, "output_tokens": 1}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": model}
        message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        await send("message_start", message=message)
        if reply.call:
            call_id = f"toolu_{len(self.requests)}"
            block = {"type": "tool_use", "id": call_id, "name": reply.call, "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": json.dumps(reply.arguments)}]
        else:
            block = {"type": "text", "text": ""}
            words = reply.say.split(" ")
            spaced = [f" {word}" if number else word for number, word in enumerate(words)]
            deltas = [{"type": "text_delta", "text": word} for word in spaced]
        await send("content_block_start", index=0, content_block=block)
        for delta in deltas:
            await send("content_block_delta", index=0, delta=delta)
        await send("content_block_stop", index=0)
        reason = {"stop_reason": "tool_use" if reply.call else "end_turn", "stop_sequence": None}
        await send("message_delta", delta=reason, usage={"output_tokens": 5})
        await send("message_stop")
        await response.write_eof()
        return response


def texts(content: str | list[dict[str, Any]]) -> list[str]:
    """The texts of a message, whose content is a string or a list of parts."""
    if isinstance(content, str):
        return [content]
    return [part["text"] for part in content if part["type"] == "text"]


def parts(message: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """The parts of that type."""
    content = message["content"]
    return [] if isinstance(content, str) else [part for part in content if part["type"] == kind]
