"""https://platform.openai.com/docs/api-reference/chat-streaming"""

import asyncio
import json
from typing import Any

from aiohttp import web

from vbot.testing.stand_in import Reply, Service

SPEAKERS = ("user", "assistant")


class ChatCompletions(Service):
    """The language model, by the API of OpenAI that many services have: streams word for word."""

    pause = 0.0  # seconds before each word

    @classmethod
    def client(cls, address: str, system_instruction: str) -> Any:
        from pipecat.services.openai.llm import OpenAILLMService

        return OpenAILLMService(
            api_key="none",
            base_url=f"http://{address}/v1",
            settings=OpenAILLMService.Settings(system_instruction=system_instruction),
        )

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.expect(request.path.endswith("/chat/completions"), "no such path")
        body = await request.json()
        self.expect(body.get("model"), "no model")
        self.expect(body.get("stream") is True, "not streamed")
        self.requests.append(body)
        return await self._stream(request, body, self._reply(body))

    def _reply(self, body: dict[str, Any]) -> Reply:
        messages = body["messages"]
        self.expect(messages[0]["role"] in ("system", "developer"), "no system instruction first")
        script = self.script
        script.instruction = text_of(messages[0])
        script.tools = [tool["function"]["name"] for tool in body.get("tools", [])]
        script.results = [text_of(m) for m in messages if m["role"] == "tool"]
        script.told([(m["role"], text_of(m)) for m in messages if m["role"] in SPEAKERS])
        return script.reply(messages[-1]["role"] == "tool")

    async def _stream(
        self, request: web.Request, body: dict[str, Any], reply: Reply
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        head = {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1700000000,
            "model": body["model"],
        }

        async def send(delta: dict[str, Any], finish: str | None = None) -> None:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            chunk = head | {"choices": [choice]}
            await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")

        await send({"role": "assistant", "content": ""})
        if reply.call:
            function = {"name": reply.call, "arguments": ""}
            call = {"index": 0, "id": f"call_{len(self.requests)}", "type": "function"}
            await send({"tool_calls": [call | {"function": function}]})
            arguments = json.dumps(reply.arguments)
            for part in (arguments[: len(arguments) // 2], arguments[len(arguments) // 2 :]):
                await send({"tool_calls": [{"index": 0, "function": {"arguments": part}}]})
            await send({}, "tool_calls")
        else:
            for number, word in enumerate(reply.say.split(" ")):
                await self._wait(number)
                await send({"content": f" {word}" if number else word})
            await send({}, "stop")
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        chunk = head | {"choices": [], "usage": usage}
        await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\ndata: [DONE]\n\n")
        await response.write_eof()
        return response

    async def _wait(self, number: int) -> None:
        """Take the time that the model needs for this word."""
        await asyncio.sleep(self.pause)


def text_of(message: dict[str, Any]) -> str:
    """The text of a message, whose content is a string or a list of parts."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return " ".join(part.get("text", "") for part in content)
