"""Deepgram, OpenAI and Cartesia with faults that begin and end when the test says so.

listening, thinking, speaking = services()
async with StandIns(listening, thinking, speaking): ...
    thinking.turn("stalls")
    thinking.turn("")  # it works again
"""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from aiohttp import web

import speech
from conversation import ANSWER, GREETING, KEYS, QUESTION
from phones import TwilioAPI
from realtime import RealtimeOpenAI
from services import REFUSALS, Call, Cartesia, Deepgram, OpenAI
from stand_ins import Reply, Script
from standins import Service


class Faulty(Service):
    """A faulty service: it cannot be reached, lets a handshake hang, refuses the key, ..."""

    mode = ""

    def __init__(self, *args: Any):
        super().__init__(*args)
        self._asking: list[web.Request] = []

    def turn(self, mode: str) -> None:
        """Set the fault from now on. A service that cannot be reached also closes connections."""
        self.mode = mode
        if mode in ("is gone", "hangs", "refuses"):
            for request in self._asking:
                abort(request)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if self.mode == "is gone":
            abort(request)
        elif self.mode == "hangs":
            await asyncio.sleep(3600)
        elif self.mode == "refuses":
            return web.json_response(REFUSALS.get(self.name, REFUSALS["openai"])[1], status=401)
        self._asking.append(request)
        try:
            return await super().answer(request)
        finally:
            self._asking.remove(request)


def abort(request: web.Request) -> None:
    """Close the connection abruptly."""
    if request.transport:
        request.transport.abort()


class Guessing(Script):
    """Takes any loud sound for this sentence, because several callers make a machine stutter."""

    def __init__(self, sentence: str) -> None:
        super().__init__()
        self.sentence = sentence

    def heard(self, pcm: bytes, rate: int) -> str:
        return self.sentence if speech.loudness(pcm) > 100 else ""


class FaultyDeepgram(Faulty, Deepgram):
    def __init__(self, key: str, sentences: list[str]) -> None:
        super().__init__(key, sentences)
        self.script = Guessing(sentences[0])

    async def received(self, ws: web.WebSocketResponse, session: Any, message: Any) -> None:
        if self.mode == "dies":
            for request in self._asking:
                abort(request)
        elif self.mode != "is silent":
            await super().received(ws, session, message)


class FaultyOpenAI(Faulty, OpenAI):
    """It can also be slow, or first call the tool `look`."""

    def answer_to(self, messages: list[dict[str, Any]]) -> str | Call:
        if self.mode == "looks" or messages[-1]["role"] == "tool":
            return Call("look", {}, ANSWER) if messages[-1]["role"] == "user" else ANSWER
        return super().answer_to(messages)

    async def _stream(
        self, request: web.Request, body: dict[str, Any], reply: Reply
    ) -> web.StreamResponse:
        if self.mode == "thinks":
            await asyncio.sleep(18)
        if reply.call or self.mode not in ("stalls", "dies"):
            return await super()._stream(request, body, reply)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for word in reply.say.split()[:4]:
            choice = {"index": 0, "delta": {"content": f"{word} "}, "finish_reason": None}
            chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
            data = json.dumps(chunk | {"choices": [choice]}).encode()
            await response.write(b"data: %s\n\n" % data)
        if self.mode == "dies":
            abort(request)
        await asyncio.sleep(3600)
        return response


class FaultyCartesia(Faulty, Cartesia):
    async def _speak(
        self, ws: web.WebSocketResponse, session: Any, text: str, rate: int, head: dict[str, Any]
    ) -> None:
        if self.mode in ("stops", "dies"):  # after a word
            await super()._speak(ws, session, text.split()[0], rate, head)
            if self.mode == "dies":
                for request in self._asking:
                    abort(request)
        elif self.mode != "is silent":
            await super()._speak(ws, session, text, rate, head)

    async def received(self, ws: web.WebSocketResponse, session: Any, message: Any) -> None:
        if self.mode and not message.get("transcript"):
            return  # it does not say that this was all
        await super().received(ws, session, message)


class FaultyRealtime(Faulty, RealtimeOpenAI):
    async def _send(self, ws: web.WebSocketResponse, kind: str, **rest: Any) -> None:
        if self.mode == "is silent" and not kind.startswith("session."):
            return
        if self.mode == "stops" and kind.endswith((".done", "transcript.delta")):
            return  # all of the sound, and no end
        await super()._send(ws, kind, **rest)


class BusyTwilio(TwilioAPI):
    """It ends more than one call. All have the same name here."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.notes.clear()
        return await super().handle(request)


def services(answers: Mapping[str, str] | None = None) -> tuple[Faulty, Faulty, Faulty]:
    """The three services of the quickstart, in order."""
    answers = answers or {QUESTION: ANSWER}
    return (
        FaultyDeepgram(KEYS["DEEPGRAM_API_KEY"], [*answers, GREETING, *answers.values()]),
        FaultyOpenAI(KEYS["OPENAI_API_KEY"], GREETING, answers),
        FaultyCartesia(KEYS["CARTESIA_API_KEY"]),
    )
