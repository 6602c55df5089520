"""https://platform.openai.com/docs/api-reference/responses-streaming, over a WebSocket"""

import json
from typing import Any

from aiohttp import web

from vbot.testing.stand_in import WebSocketService


class OpenAIResponses(WebSocketService):
    """The language model, by OpenAI's API of responses: remembers what it was told before."""

    def opened(self, request: web.Request) -> list[dict[str, Any]]:
        self.expect(request.path == "/v1/responses", "no such path")
        return []  # the items of the conversation

    async def received(
        self, ws: web.WebSocketResponse, session: list[dict[str, Any]], message: Any
    ) -> None:
        if message["type"] == "response.cancel":
            return
        self.expect(message["type"] == "response.create" and message["model"], f"{message}")
        self.requests.append(message)
        if not message.get("previous_response_id"):
            session.clear()
        session += message["input"]
        script = self.script
        script.instruction = message.get("instructions") or ""
        script.tools = [tool["name"] for tool in message.get("tools") or []]
        outputs = [item for item in session if item.get("type") == "function_call_output"]
        script.results = [item["output"] for item in outputs]
        said = [(item["role"], text_of(item)) for item in session if "role" in item]
        script.told([turn for turn in said if turn[0] in ("user", "assistant")])
        reply = script.reply(session[-1].get("type") == "function_call_output")
        item: dict[str, Any] = {"id": f"item_{len(self.requests)}", "status": "completed"}
        place = {"item_id": item["id"], "output_index": 0}
        head: dict[str, Any] = {"id": f"resp_{len(self.requests)}", "model": message["model"]}
        await ws.send_json({"type": "response.created", "response": head})
        if reply.call:
            call = {"call_id": f"call_{len(self.requests)}", "name": reply.call}
            arguments = json.dumps(reply.arguments)
            item |= {"type": "function_call", "arguments": ""} | call
            await ws.send_json({"type": "response.output_item.added", "item": item})
            done = {"type": "response.function_call_arguments.done", "arguments": arguments}
            await ws.send_json(done | place)
            item |= {"arguments": arguments}
        else:
            for number, word in enumerate(reply.say.split(" ")):
                delta = f" {word}" if number else word
                kind = "response.output_text.delta"
                await ws.send_json({"type": kind, "content_index": 0, "delta": delta} | place)
            content = [{"type": "output_text", "text": reply.say}]
            item |= {"type": "message", "role": "assistant", "content": content}
        session.append(item)
        await ws.send_json({"type": "response.output_item.done", "item": item})
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
        response = head | {"status": "completed", "output": [item], "usage": usage}
        await ws.send_json({"type": "response.completed", "response": response})


def text_of(item: dict[str, Any]) -> str:
    """The text of an item, whose content is a string or a list of parts."""
    content = item["content"]
    return content if isinstance(content, str) else " ".join(part["text"] for part in content)
