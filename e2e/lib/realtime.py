"""The services that stand in for OpenAI's Realtime and Live APIs: each hears, thinks and speaks on
one WebSocket.

https://platform.openai.com/docs/guides/realtime-websocket
"""

import asyncio
import base64
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

import speech
from standins import WebSocketService

RATE = 24000  # of audio both ways, unless the session says otherwise
LOUD = 300.0  # speech, not line noise
PAUSE = 0.6  # seconds of silence that end a turn


@dataclass
class _Session:
    """One connection: the sound of the turn that is being spoken, and what came before."""

    settings: dict[str, Any] = field(default_factory=dict)
    audio: bytearray = field(default_factory=bytearray)
    item: str = ""  # of the turn, "" between turns
    silence: float = 0.0
    responding: bool = False


def new_id(kind: str) -> str:
    return f"{kind}_{uuid.uuid4().hex[:20]}"


class RealtimeOpenAI(WebSocketService):
    """Greets when it is asked to speak first, and answers what it hears."""

    name, host = "realtime", "api.openai.com"

    def __init__(self, key: str, greeting: str, answers: Mapping[str, str]):
        super().__init__()
        self.key, self.greeting, self.answers = key, greeting, answers

    def opened(self, request: web.Request) -> _Session:
        self.expect(request.path == "/v1/realtime", f"no such path: {request.path}")
        self.expect(request.headers.get("Authorization") == f"Bearer {self.key}", "wrong key")
        self.expect(request.query.get("model"), "no model")
        self.expect("OpenAI-Beta" not in request.headers, "the beta API is gone")
        self.note("connect", model=request.query["model"])
        return _Session()

    async def begin(self, ws: web.WebSocketResponse, session: _Session) -> None:
        await self._send(ws, "session.created", session={"type": "realtime"})

    async def received(self, ws: web.WebSocketResponse, session: _Session, message: Any) -> None:
        self.expect(isinstance(message, dict), "audio goes into JSON here")
        kind = message["type"]
        if kind == "input_audio_buffer.append":
            await self._listen(ws, session, base64.b64decode(message["audio"]))
            return
        self.note(kind, **message)
        if kind == "session.update":
            self.expect(message["session"].get("type") == "realtime", "no type of session")
            session.settings |= message["session"]
            await self._send(ws, "session.updated", session=message["session"])
        elif kind == "conversation.item.create":
            await self._added(ws, message["item"])
        elif kind == "response.create":
            self.expect(not session.responding, "a response is active already")
            await self._respond(ws, session, self.greeting)
        else:
            self.expect(kind == "conversation.item.truncate", f"message of type {kind!r}")

    async def _send(self, ws: web.WebSocketResponse, kind: str, **rest: Any) -> None:
        await ws.send_json({"type": kind, "event_id": new_id("event")} | rest)

    async def _added(self, ws: web.WebSocketResponse, item: dict[str, Any]) -> None:
        whole = {"object": "realtime.item", "status": "completed"} | item
        await self._send(ws, "conversation.item.added", item=whole)
        await self._send(ws, "conversation.item.done", item=whole)

    async def _listen(self, ws: web.WebSocketResponse, session: _Session, pcm: bytes) -> None:
        """Detect turns, as the session was told that we do."""
        loud = speech.loudness(pcm) > LOUD
        if loud and not session.item:
            session.item = new_id("item")
            await self._send(
                ws, "input_audio_buffer.speech_started", audio_start_ms=0, item_id=session.item
            )
        if not session.item:
            session.audio = session.audio[-RATE:] + pcm  # the half second before counts
            return
        session.audio += pcm
        session.silence = 0.0 if loud else session.silence + len(pcm) / 2 / RATE
        if session.silence >= PAUSE:
            await self._turn(ws, session)

    async def _turn(self, ws: web.WebSocketResponse, session: _Session) -> None:
        item, sound = session.item, bytes(session.audio)
        session.item, session.audio, session.silence = "", bytearray(), 0.0
        audio_in = (session.settings.get("audio") or {}).get("input") or {}
        await self._send(ws, "input_audio_buffer.speech_stopped", audio_end_ms=0, item_id=item)
        await self._send(ws, "input_audio_buffer.committed", item_id=item)
        content = [{"type": "input_audio", "transcript": None}]
        await self._added(ws, {"id": item, "type": "message", "role": "user", "content": content})
        heard = " ".join(await asyncio.to_thread(speech.hear, sound, RATE, list(self.answers)))
        self.note("heard", text=heard)
        self.expect(heard, f"speech that is none of {list(self.answers)}")
        if audio_in.get("transcription"):
            kind = "conversation.item.input_audio_transcription.completed"
            await self._send(ws, kind, item_id=item, content_index=0, transcript=heard)
        await self._respond(ws, session, self.answers[heard])

    async def _respond(self, ws: web.WebSocketResponse, session: _Session, text: str) -> None:
        session.responding = True
        response = {"id": new_id("resp"), "object": "realtime.response"}
        item = {"id": new_id("item"), "type": "message", "role": "assistant", "content": []}
        place = {"response_id": response["id"], "item_id": item["id"]}
        place |= {"output_index": 0, "content_index": 0}
        await self._send(ws, "response.created", response=response | {"status": "in_progress"})
        await self._send(ws, "conversation.item.added", item=item)
        pcm = speech.speak(text, RATE)
        size = RATE // 5 * 2  # 200 ms
        for number, word in enumerate(text.split(" ")):
            delta = f" {word}" if number else word
            await self._send(ws, "response.output_audio_transcript.delta", **place, delta=delta)
        for start in range(0, len(pcm), size):
            delta = base64.b64encode(pcm[start : start + size]).decode()
            await self._send(ws, "response.output_audio.delta", **place, delta=delta)
        await self._send(ws, "response.output_audio.done", **place)
        content = [{"type": "output_audio", "transcript": text}]
        item = item | {"status": "completed", "content": content}
        await self._send(ws, "conversation.item.done", item=item)
        usage = {"total_tokens": 15, "input_tokens": 10, "output_tokens": 5}
        done = {"status": "completed", "output": [item], "usage": usage}
        await self._send(ws, "response.done", response=response | done)
        session.responding = False


@dataclass
class _Live:
    """One connection to the Live API: what has been heard since the last answer."""

    audio: bytearray = field(default_factory=bytearray)
    silence: float = 0.0
    started: bool = False
    talking: bool = False


class LiveOpenAI(WebSocketService):
    """Speaks first when it is given something to say, and answers what it hears.

    There are no turns on this connection: sound goes both ways, with what is said beside it.
    """

    name, host = "live", "api.openai.com"

    def __init__(self, key: str, greeting: str, answers: Mapping[str, str]):
        super().__init__()
        self.key, self.greeting, self.answers = key, greeting, answers

    def opened(self, request: web.Request) -> _Live:
        self.expect(request.path == "/v1/live/sessions", f"no such path: {request.path}")
        self.expect(request.headers.get("Authorization") == f"Bearer {self.key}", "wrong key")
        return _Live()

    async def received(self, ws: web.WebSocketResponse, session: _Live, message: Any) -> None:
        kind = message["type"]
        if kind == "session.input_audio.append":
            self.expect(session.started, "sound before the session")
            await self._listen(ws, session, base64.b64decode(message["audio"]))
            return
        self.note(kind, **message)
        if kind == "session.start":
            session.started = True
            whole = {"id": new_id("sess"), "status": "active"} | message["session"]
            await ws.send_json({"type": "session.started", "session": whole})
        elif kind == "session.commentary.append":
            await self._speak(ws, self.greeting)
        else:
            self.expect(kind == "session.close", f"message of type {kind!r}")

    async def _listen(self, ws: web.WebSocketResponse, session: _Live, pcm: bytes) -> None:
        loud = speech.loudness(pcm) > LOUD
        session.talking = session.talking or loud
        if not session.talking:
            session.audio = session.audio[-RATE:] + pcm  # the half second before counts
            return
        session.audio += pcm
        session.silence = 0.0 if loud else session.silence + len(pcm) / 2 / RATE
        if session.silence < PAUSE:
            return
        sound = bytes(session.audio)
        session.audio, session.silence, session.talking = bytearray(), 0.0, False
        heard = " ".join(await asyncio.to_thread(speech.hear, sound, RATE, list(self.answers)))
        self.note("heard", text=heard)
        self.expect(heard, f"speech that is none of {list(self.answers)}")
        await ws.send_json({"type": "session.input_transcript.delta", "delta": heard})
        await self._speak(ws, self.answers[heard])

    async def _speak(self, ws: web.WebSocketResponse, text: str) -> None:
        await ws.send_json({"type": "session.output_transcript.delta", "delta": text})
        pcm = speech.speak(text, RATE)
        size = RATE // 5 * 2  # 200 ms, as long as they last
        for start in range(0, len(pcm), size):
            delta = base64.b64encode(pcm[start : start + size]).decode()
            await ws.send_json({"type": "session.output_audio.delta", "delta": delta})
            await asyncio.sleep(0.2)
