"""https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent"""

import json
from typing import Any

from aiohttp import web

from vbot.testing.stand_in import Reply, Service


class Gemini(Service):
    """The language model, by the API of Gemini: streams word for word."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.expect(request.path.endswith(":streamGenerateContent"), "no such path")
        body = await request.json()
        self.requests.append(body)
        script, contents = self.script, body["contents"]
        script.instruction = texts(body.get("systemInstruction") or {"parts": []})
        declared = [d for tool in body.get("tools") or [] for d in tool["functionDeclarations"]]
        script.tools = [declaration["name"] for declaration in declared]
        roles = {"user": "user", "model": "assistant"}
        script.told([(roles[c["role"]], texts(c)) for c in contents if c["role"] in roles])
        answered = [part["functionResponse"] for c in contents for part in answers(c)]
        script.results = [json.dumps(answer["response"]) for answer in answered]
        return await self._stream(request, script.reply(bool(answers(contents[-1]))))

    async def _stream(self, request: web.Request, reply: Reply) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        if reply.call:
            parts: list[dict[str, Any]] = [
                {"functionCall": {"name": reply.call, "args": reply.arguments}}
            ]
        else:
            words = reply.say.split(" ")
            parts = [{"text": f" {word}" if n else word} for n, word in enumerate(words)]
        for number, part in enumerate(parts, 1):
            candidate: dict[str, Any] = {"content": {"role": "model", "parts": [part]}, "index": 0}
            if number == len(parts):
                candidate["finishReason"] = "STOP"
            counts = ("promptTokenCount", "candidatesTokenCount", "totalTokenCount")
            usage = dict(zip(counts, (10, 5, 15), strict=True))
            chunk = {"candidates": [candidate], "usageMetadata": usage}
            await response.write(f"data: {json.dumps(chunk)}\r\n\r\n".encode())
        await response.write_eof()
        return response


def texts(content: dict[str, Any]) -> str:
    """The text of a content's parts."""
    return " ".join(part["text"] for part in content["parts"] if "text" in part)


def answers(content: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts that answer the model's calls of tools."""
    return [part for part in content["parts"] if "functionResponse" in part]
