"""The services that stand in for Deepgram, OpenAI and Cartesia.

Each one does what the real one's documentation says as far as the framework uses it, and refuses
the rest. Nothing here makes anything up: Deepgram's transcript is what its ear heard, OpenAI
answers only what it has an answer for, Cartesia speaks what it is given.
"""

import asyncio
import base64
import json
import uuid
import wave
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from aiohttp import web
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256

import speech
from standins import Service, Unexpected, WebSocketService


@dataclass
class _Listening:
    rate: int
    audio: bytearray = field(default_factory=bytearray)


class Deepgram(WebSocketService):
    """Streaming transcription: hears the sentences given to it, and tells when asked to finish."""

    name, host = "deepgram", "api.deepgram.com"

    def __init__(self, key: str, sentences: list[str]):
        super().__init__()
        self.key, self.sentences = key, sentences

    def opened(self, request: web.Request) -> _Listening:
        self.expect(request.path == "/v1/listen", f"no such path: {request.path}")
        self.expect(request.headers.get("Authorization") == f"Token {self.key}", "wrong key")
        query = dict(request.query)
        self.expect(query.get("encoding") == "linear16", f"encoding: {query}")
        self.expect(query.get("model"), f"no model: {query}")
        self.note("listen", **query)
        return _Listening(int(query["sample_rate"]))

    async def received(self, ws: web.WebSocketResponse, session: _Listening, message: Any) -> None:
        if isinstance(message, bytes):
            session.audio += message
            return
        kind = message.get("type")
        if kind == "Finalize":
            pcm = bytes(session.audio)
            heard = " ".join(speech.hear(pcm, session.rate, self.sentences, speech.STRETCHED))
            if heard:
                session.audio.clear()
            self.note("finalize", heard=heard, bytes=len(pcm), loudness=speech.loudness(pcm))
            await ws.send_json(self._results(heard))
        elif kind == "CloseStream":
            await ws.close()
        else:
            self.expect(kind == "KeepAlive", f"message of type {kind!r}")

    def _results(self, transcript: str) -> dict[str, Any]:
        best = {"transcript": transcript, "confidence": 0.99, "words": []}
        return {
            "type": "Results",
            "channel_index": [0, 1],
            "start": 0.0,
            "duration": 1.0,
            "is_final": True,
            "speech_final": True,
            "from_finalize": True,
            "channel": {"alternatives": [best]},
            "metadata": {
                "request_id": str(uuid.uuid4()),
                "model_uuid": str(uuid.uuid4()),
                "model_info": {"name": "stand-in", "version": "1", "arch": "stand-in"},
            },
        }


def text_of(message: Mapping[str, Any]) -> str:
    """The text of a chat message, whether it is a string or a list of parts."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return " ".join(part.get("text", "") for part in content)


@dataclass
class Call:
    """An answer for which the model calls a tool first: what it calls, and what it says then."""

    name: str
    arguments: dict[str, Any]
    then: str = ""  # nothing where the tool ends the call


class OpenAI(Service):
    """Chat completions, streamed: a greeting first, then the answers to what is said to it."""

    name, host = "openai", "api.openai.com"

    def __init__(self, key: str, greeting: str | Call, answers: Mapping[str, str | Call]):
        super().__init__()
        self.key, self.greeting, self.answers = key, greeting, answers
        self.takes = 0.0  # seconds for a word
        self.stops_at, self.go_on = 0, asyncio.Event()  # a word before which it waits; 0 for none

    async def handle(self, request: web.Request) -> web.StreamResponse:
        asked = (request.method, request.path)
        self.expect(asked == ("POST", "/v1/chat/completions"), f"no such path: {asked}")
        self.expect(request.headers.get("Authorization") == f"Bearer {self.key}", "wrong key")
        body = await request.json()
        self.note("chat", **body)
        self.expect(body.get("model"), "no model")
        self.expect(body.get("stream") is True, "not streamed")
        reply = self._reply(body["messages"])
        if isinstance(reply, Call):
            tools = [tool["function"]["name"] for tool in body.get("tools", [])]
            self.expect(reply.name in tools, f"no tool {reply.name} in {tools}")
        return await self._stream(request, body, reply)

    def _reply(self, messages: list[dict[str, Any]]) -> str | Call:
        self.expect(messages and messages[0]["role"] == "system", "no system message at the head")
        last = messages[-1]
        if last["role"] in ("system", "developer"):
            return self.greeting
        # After a call comes its result, and the answer to what was said before it.
        called = last["role"] == "tool"
        users = [message for message in messages if message["role"] == "user"]
        said = text_of(users[-1]) if called and users else text_of(last)
        asked = last["role"] == "user" or called
        self.expect(asked and said in self.answers, f"no answer to {last}")
        answer = self.answers[said]
        return answer.then if called and isinstance(answer, Call) else answer

    async def _stream(
        self, request: web.Request, body: dict[str, Any], reply: str | Call
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        chunk = {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "object": "chat.completion.chunk",
            "created": 1700000000,
            "model": body["model"],
        }

        async def send(**rest: Any) -> None:
            await response.write(b"data: " + json.dumps(chunk | rest).encode() + b"\n\n")

        def choice(delta: dict[str, Any], finish: str | None = None) -> list[dict[str, Any]]:
            return [{"index": 0, "delta": delta, "finish_reason": finish}]

        await send(choices=choice({"role": "assistant", "content": ""}))
        if isinstance(reply, Call):
            function = {"name": reply.name, "arguments": json.dumps(reply.arguments)}
            call = {"index": 0, "id": f"call_{uuid.uuid4().hex}", "type": "function"}
            await send(choices=choice({"tool_calls": [call | {"function": function}]}))
            await send(choices=choice({}, "tool_calls"))
        else:
            for number, word in enumerate(reply.split(" ")):
                await asyncio.sleep(self.takes)
                if self.stops_at and number == self.stops_at:
                    await self.go_on.wait()
                await send(choices=choice({"content": f" {word}" if number else word}))
            await send(choices=choice({}, "stop"))
        if (body.get("stream_options") or {}).get("include_usage"):
            usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
            await send(choices=[], usage=usage)
        await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
        return response


class OpenAIResponses(WebSocketService):
    """Responses over a WebSocket, which the Python tool's bot asks for: always the same one."""

    name, host = "openai responses", "api.openai.com"

    def __init__(self, key: str, reply: str):
        super().__init__()
        self.key, self.reply = key, reply

    def opened(self, request: web.Request) -> None:
        self.expect(request.path == "/v1/responses", f"no such path: {request.path}")
        self.expect(request.headers.get("Authorization") == f"Bearer {self.key}", "wrong key")

    async def received(self, ws: web.WebSocketResponse, session: None, message: Any) -> None:
        asked = isinstance(message, dict) and message.get("type") == "response.create"
        self.expect(asked and message.get("model"), f"no model, or no request: {message}")
        self.note("create", **message)
        text = {"type": "output_text", "text": self.reply}
        item = {"id": "msg_1", "type": "message", "role": "assistant", "content": [text]}
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
        response = {"id": "resp_1", "model": message["model"], "output": [item], "usage": usage}
        await ws.send_json({"type": "response.created", "response": {"id": "resp_1"}})
        delta = {"type": "response.output_text.delta", "item_id": "msg_1", "delta": self.reply}
        await ws.send_json(delta)
        await ws.send_json({"type": "response.output_item.done", "item": item})
        await ws.send_json({"type": "response.completed", "response": response})


class OpenAITranscription(Service):
    """Transcription of a recording: hears the sentences given to it."""

    name, host = "openai stt", "api.openai.com"

    def __init__(self, key: str, sentences: list[str]):
        super().__init__()
        self.key, self.sentences = key, sentences

    async def handle(self, request: web.Request) -> web.StreamResponse:
        asked = (request.method, request.path)
        self.expect(asked == ("POST", "/v1/audio/transcriptions"), f"no such path: {asked}")
        self.expect(request.headers.get("Authorization") == f"Bearer {self.key}", "wrong key")
        form = await request.post()
        self.expect(form.get("model"), "no model")
        file = form["file"]
        if not isinstance(file, web.FileField):
            raise Unexpected("no file")
        with wave.open(file.file, "rb") as sound:
            pcm = sound.readframes(sound.getnframes())
            heard = " ".join(speech.hear(pcm, sound.getframerate(), self.sentences))
        self.note("transcribe", heard=heard)
        return web.json_response({"text": heard})


class OpenAISpeech(Service):
    """Speech from text: eSpeak says each input."""

    name, host = "openai tts", "api.openai.com"

    def __init__(self, key: str):
        super().__init__()
        self.key = key

    async def handle(self, request: web.Request) -> web.StreamResponse:
        asked = (request.method, request.path)
        self.expect(asked == ("POST", "/v1/audio/speech"), f"no such path: {asked}")
        self.expect(request.headers.get("Authorization") == f"Bearer {self.key}", "wrong key")
        body = await request.json()
        self.note("speak", **body)
        self.expect(body.get("model") and body.get("voice"), f"no model or voice: {body}")
        self.expect(body.get("response_format") == "pcm", f"format: {body}")
        pcm = speech.speak(body["input"], 24000)  # its only rate
        return web.Response(body=pcm, content_type="audio/pcm")


class Cartesia(WebSocketService):
    """Streaming speech: eSpeak says each transcript. Times of words count on within a context."""

    name, host = "cartesia", "api.cartesia.ai"

    def __init__(self, key: str):
        super().__init__()
        self.key = key
        self._spoken: dict[str, float] = {}  # seconds, by context

    def opened(self, request: web.Request) -> None:
        self.expect(request.path == "/tts/websocket", f"no such path: {request.path}")
        self.expect(request.headers.get("X-API-Key") == self.key, "wrong key")
        self.expect(request.headers.get("Cartesia-Version"), "no version header")

    async def received(self, ws: web.WebSocketResponse, session: None, message: Any) -> None:
        self.expect(isinstance(message, dict), "audio sent to a voice")
        context = message["context_id"]
        if message.get("cancel"):
            self.note("cancel", context_id=context)
            return
        form = message["output_format"]
        wanted = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": form["sample_rate"]}
        self.expect(form == wanted, f"audio format: {form}")
        self.expect(message["model_id"], "no model")
        self.expect(message["voice"].get("mode") == "id" and message["voice"]["id"], "no voice")
        if text := message["transcript"]:
            self.note("speak", **message)
            await self._speak(ws, context, text.strip(), form["sample_rate"])
        if not message["continue"]:
            done = {"type": "done", "context_id": context, "done": True, "status_code": 200}
            await ws.send_json(done)

    async def _speak(self, ws: web.WebSocketResponse, context: str, text: str, rate: int) -> None:
        pcm = speech.speak(text, rate)
        words = text.split()
        before = self._spoken.get(context, 0.0)
        self._spoken[context] = before + len(pcm) / 2 / rate
        ends = np.linspace(before, self._spoken[context], len(words) + 1).round(3).tolist()
        times = {"words": words, "start": ends[:-1], "end": ends[1:]}
        head = {"context_id": context, "done": False, "status_code": 206}
        await ws.send_json(head | {"type": "timestamps", "word_timestamps": times})
        size = rate // 5 * 2  # 200 ms
        for start in range(0, len(pcm), size):
            data = base64.b64encode(pcm[start : start + size]).decode()
            await ws.send_json(head | {"type": "chunk", "data": data, "step_time": 1.0})


class GoogleAccounts(Service):
    """Gives a token to whom signs with the key of the service account."""

    name, host = "google accounts", "oauth2.googleapis.com"
    token = "a-token-of-the-account"

    def __init__(self, key: rsa.RSAPublicKey):
        super().__init__()
        self.key = key

    async def handle(self, request: web.Request) -> web.StreamResponse:
        asked = (request.method, request.path)
        self.expect(asked == ("POST", "/token"), f"no such path: {asked}")
        signed, _, signature = str((await request.post())["assertion"]).rpartition(".")
        try:
            self.key.verify(_unpadded(signature), signed.encode(), PKCS1v15(), SHA256())
        except InvalidSignature:
            raise Unexpected("signed with another key") from None
        self.note("token", **json.loads(_unpadded(signed.partition(".")[2])))
        answer = {"access_token": self.token, "token_type": "Bearer", "expires_in": 3600}
        return web.json_response(answer)


def _unpadded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class VertexLive(Service):
    """Has nothing to say, but only to whom comes with a token."""

    name = "vertex"

    def __init__(self, location: str):
        super().__init__()
        self.host = f"{location}-aiplatform.googleapis.com"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        bearer = request.headers.get("Authorization")
        self.expect(bearer == f"Bearer {GoogleAccounts.token}", f"no token: {bearer}")
        self.note("refused", path=request.path)
        return web.Response(status=403)


_OPENAI_REFUSES = {
    # The real one repeats the beginning and the end of the key, too.
    "message": "Incorrect API key provided: a-w*****key. You can find your API key at "
    "https://platform.openai.com/account/api-keys.",
    "type": "invalid_request_error",
    "param": None,
    "code": "invalid_api_key",
}

# What a service says to who comes with a wrong key, beside 401.
REFUSALS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "cartesia": ("api.cartesia.ai", {"title": "Unauthorized", "message": "Invalid API key"}),
    "deepgram": (
        "api.deepgram.com",
        {"err_code": "INVALID_AUTH", "err_msg": "Invalid credentials."},
    ),
    "elevenlabs": (
        "api.elevenlabs.io",
        {"detail": {"status": "invalid_api_key", "message": "Invalid API key"}},
    ),
    # On a WebSocket, it lets the caller in first: see Refusing.
    "gemini": (
        "generativelanguage.googleapis.com",
        {"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}},
    ),
    "heygen": ("api.liveavatar.com", {"code": 4001, "data": None, "message": "Invalid API key"}),
    "openai": ("api.openai.com", {"error": _OPENAI_REFUSES}),
}


class Refusing(Service):
    """A service that refuses every key."""

    def __init__(self, name: str):
        super().__init__()
        self.name = name
        self.host, self.body = REFUSALS[name]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.note("refused", path=request.path)
        if self.name == "gemini":
            ws = web.WebSocketResponse()
            await ws.prepare(request)
            message = b"API key not valid. Please pass a valid API key."
            await ws.close(code=1007, message=message)
            return ws
        return web.json_response(self.body, status=401)
