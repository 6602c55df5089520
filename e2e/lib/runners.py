"""The models behind ollama.py: fixed words, llama.cpp, or both.

    Words(ANSWERS)                       writes at once what a test has given it
    PassedOn(small_model.serve)          llama.cpp writes what its model wants to
    Scripted(large_model.serve, ANSWERS) llama.cpp reads and calculates, for words that are given

All of them serve one request at a time, as Ollama does unless OLLAMA_NUM_PARALLEL says otherwise.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
from aiohttp import web

import bots
from ollama import Chat, now
from stand_ins import Unexpected
from vbot.testing.stand_ins.llm.openai_chat import text_of

READ = "Hello"  # the answer to who wants no more than a word, to have the model read
# Starts llama.cpp's server, and ends it.
Serve = Callable[[], contextlib.AbstractAsyncContextManager[bots.Bot]]


@dataclass
class Exchange:
    """A question and its answer, with times by the clock of the event loop."""

    question: str
    asked: float
    begun: float = 0.0  # after those before it in line
    first_word: float = 0.0
    first_sentence: float = 0.0
    ended: float = 0.0
    prompt: int = 0  # tokens of what it was sent, the whole conversation
    read: int = 0  # those that it had not read before

    def note(self, written: str) -> None:
        """Note that this part of the answer has been written."""
        self.first_word = self.first_word or now()
        if written.rstrip().endswith((".", "?", "!")):
            self.first_sentence = self.first_sentence or now()


class Words:
    """Answers by the first of these words that is in the question; "" is in every question."""

    def __init__(self, answers: Mapping[str, str], pause: float = 0.0) -> None:
        self.answers, self.pause = answers, pause  # seconds before each word
        self.exchanges: list[Exchange] = []
        self._writer = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def __call__(self) -> AsyncIterator[Chat]:
        yield self._chat

    async def _chat(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        question = text_of(body["messages"][-1])
        exchange = Exchange(question, now())
        self.exchanges.append(exchange)
        answers = [a for word, a in self.answers.items() if word.lower() in question.lower()]
        if body.get("max_tokens") == 1:
            answers = [READ]
        if not answers:
            raise Unexpected(f"no answer to {question!r}")
        async with self._writer:
            exchange.begun = now()
            try:
                pieces = self._noted(exchange, self._pieces(exchange, body, answers[0]))
                return await _written(request, body, pieces)
            finally:
                exchange.ended = now()

    async def _noted(self, exchange: Exchange, pieces: AsyncIterator[str]) -> AsyncIterator[str]:
        written = ""
        async for piece in pieces:
            written += piece
            exchange.note(written)
            yield piece

    async def _pieces(
        self, exchange: Exchange, body: dict[str, Any], answer: str
    ) -> AsyncIterator[str]:
        for number, word in enumerate(answer.split(" ")):
            await asyncio.sleep(self.pause)
            yield f" {word}" if number else word


class Scripted(Words):
    """Takes the time that a model takes: llama.cpp reads the prompt and calculates each token.

    Then comes the next token of the answer, instead of the one that the model would choose. The
    model is told so, as if it had chosen it: it need not read the answer when the next question
    comes, unless the bot sends something else.
    """

    def __init__(self, serve: Serve, answers: Mapping[str, str]) -> None:
        super().__init__(answers)
        self._serve = serve

    @contextlib.asynccontextmanager
    async def __call__(self) -> AsyncIterator[Chat]:
        async with self._serve() as server:
            async with aiohttp.ClientSession(server.url, raise_for_status=True) as self._http:
                yield self._chat

    async def _pieces(
        self, exchange: Exchange, body: dict[str, Any], answer: str
    ) -> AsyncIterator[str]:
        asked = {name: body[name] for name in ("messages", "tools") if name in body}
        prompt = (await self._post("/apply-template", asked))["prompt"]
        read, whole = await self._tokens(prompt), await self._tokens(prompt + answer)
        exchange.prompt = len(read)
        assert whole[: len(read)] == read, "the answer changes the tokens of what is before it"
        tokens = [token["id"] for token in whole]
        for n in range(len(read), len(whole) + 1):
            sent = {"prompt": tokens[:n], "n_predict": 1, "cache_prompt": True}
            calculated = await self._post("/completion", sent)
            exchange.read = exchange.read or calculated["timings"]["prompt_n"]
            if n < len(whole):  # the last is what ends the answer
                yield whole[n]["piece"]

    async def _tokens(self, text: str) -> list[dict[str, Any]]:
        sent = {"content": text, "with_pieces": True, "parse_special": True}
        return (await self._post("/tokenize", sent))["tokens"]

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        async with self._http.post(path, json=body) as response:
            return await response.json()


class PassedOn:
    """Leaves the chat to llama.cpp's server, which `server` is while the model is loaded."""

    server: bots.Bot

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._writer = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def __call__(self) -> AsyncIterator[Chat]:
        async with self._serve() as self.server:
            async with aiohttp.ClientSession(self.server.url) as self._http:
                yield self._chat

    async def _chat(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        async with self._writer, self._http.post(request.path, json=body) as response:
            headers = {"Content-Type": response.headers["Content-Type"]}
            answer = web.StreamResponse(status=response.status, headers=headers)
            await answer.prepare(request)
            async for piece in response.content.iter_any():
                await answer.write(piece)
            await answer.write_eof()
            return answer


async def _written(
    request: web.Request, body: dict[str, Any], pieces: AsyncIterator[str]
) -> web.StreamResponse:
    """These pieces of an answer, as the chat of OpenAI's API."""
    most = body.get("max_tokens")
    streams = body.get("stream", False)
    kind = "chat.completion.chunk" if streams else "chat.completion"
    head = {"id": "chatcmpl-1", "object": kind, "created": 1700000000, "model": body["model"]}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    text, count, reason = "", 0, "stop"

    async def send(delta: dict[str, str], finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        await response.write(b"data: %b\n\n" % json.dumps(head | {"choices": [choice]}).encode())

    async for piece in pieces:
        text, count = text + piece, count + 1
        if streams:
            if count == 1:  # before that, nothing is sent
                await response.prepare(request)
            await send({"content": piece} | ({"role": "assistant"} if count == 1 else {}))
        if count == most:
            reason = "length"
            break
    if not streams:
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return web.json_response(head | {"choices": [choice], "usage": usage})
    await send({}, reason)
    if (body.get("stream_options") or {}).get("include_usage"):
        last = json.dumps(head | {"choices": [], "usage": usage}).encode()
        await response.write(b"data: %b\n\n" % last)
    await response.write(b"data: [DONE]\n\n")
    await response.write_eof()
    return response
