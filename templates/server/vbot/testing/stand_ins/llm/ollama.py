"""https://docs.ollama.com/api/openai-compatibility"""

from aiohttp import web

from vbot.testing.stand_ins.llm.openai_chat import ChatCompletions


class Ollama(ChatCompletions):
    """The language model, on one's own machine: at its start, the bot has it loaded."""

    greets = False  # it is slow, so the bot says a fixed sentence

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.expect(body.get("model"), "no model")
        if request.path == "/api/generate":
            return web.json_response({"done": True})
        if body.get("stream"):
            return await super().handle(request)
        message = {"role": "assistant", "content": "Hello"}
        choice = {"index": 0, "message": message, "finish_reason": "length"}
        head = {"id": "chatcmpl-0", "object": "chat.completion", "created": 1700000000}
        return web.json_response(head | {"model": body["model"], "choices": [choice]})
