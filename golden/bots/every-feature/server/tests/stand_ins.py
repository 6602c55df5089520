"""The services that this bot uses, played on this machine, over their own protocols.

A test says in `Script` what the model answers. Nothing here needs a key or a network.
"""

import asyncio
import base64
import contextlib
import io
import json
import ssl
import wave
from collections import deque
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from sound import loudness, spoken

LOUD = 300.0  # speech, not the noise of a line


@dataclass
class Reply:
    """What the model answers. Where it calls a tool, it speaks after the tool has answered."""

    say: str
    call: str = ""  # the name of a tool
    arguments: dict[str, Any] = field(default_factory=dict)


class Script:
    """Who says what. The model repeats what it hears, unless a test has said otherwise."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.greeting = "Hello, how can I help you?"
        # What the model was told by the last request: ("user", text) and ("assistant", text).
        self.conversation: list[tuple[str, str]] = []
        self.instruction = ""
        self.tools: list[str] = []  # names
        self.results: list[str] = []  # of tools, as the model was told them
        self.said: list[str] = []  # what the bot's voice was told to say, in order
        self._replies: dict[str, Reply] = {}
        self._sentences: deque[str] = deque()

    def when(
        self, text: str, say: str = "", call: str = "", arguments: dict[str, Any] | None = None
    ) -> None:
        """When a person says `text`, call that tool, if any, and then say this."""
        self._replies[text] = Reply(say, call, arguments or {})

    def told(self, turns: list[tuple[str, str]]) -> None:
        """The model was told this conversation."""
        # Where a model has no developer role, the instruction to greet comes as a person's message.
        if turns and turns[0][0] == "user" and turns[0][1] not in self._replies:
            turns = turns[1:]
        self.conversation = [(role, text) for role, text in turns if text]

    def reply(self, tool_answered: bool = False) -> Reply:
        """What the model answers to the conversation, which may end with the result of a tool."""
        if not self.conversation or self.conversation[-1][0] != "user":
            return Reply(self.greeting)
        text = self.conversation[-1][1]
        reply = self._replies.get(text, Reply(f"You said: {text}"))
        if tool_answered:
            return Reply(reply.say)
        if reply.call and reply.call not in self.tools:
            raise Unexpected(f"the model has no tool {reply.call}, but {self.tools}")
        return reply

    def failures(self) -> list[str]:
        """What the model was told of tools that raised an error, or have no such argument."""
        return [result for result in self.results if "failed and returned no result" in result]

    def will_be_spoken(self, sentence: str) -> None:
        """A person is about to speak: what the next speech that is heard means."""
        self._sentences.append(sentence)

    def partly_heard(self, seconds: float) -> str:
        """What a service makes of the beginning of the next sentence."""
        words = self._sentences[0].split() if self._sentences else []
        return " ".join(words[: int(seconds / 0.2)])

    def heard(self, pcm: bytes, rate: int) -> str:
        """What was said: the next sentence if this is speech, "" if it is not."""
        speaks = loudness(pcm) > LOUD / 2
        return self._sentences.popleft() if self._sentences and speaks else ""

    def voice(self, text: str, rate: int) -> bytes:
        """`text` as the bot's voice says it: mono PCM of 16 bits."""
        self.said.append(text)
        return spoken(text, rate)


class Unexpected(Exception):
    """A request that the real service refuses. The test fails."""


class Service:
    """One service. Subclasses answer in `handle`."""

    key_in_message = False  # the key is not in the request's address or head
    file_limit = 64 << 20  # bytes of a request

    def __init__(self, script: Script, key: str) -> None:
        self.script, self.key = script, key
        self.clear()

    def clear(self) -> None:
        self.failing = 0  # the HTTP status of all answers, if not 0
        self.requests: list[dict[str, Any]] = []  # what it was asked, in order
        self.unexpected: list[str] = []

    async def fail(self, status: int) -> None:
        """From now on, answer everything with this HTTP status, and end open connections."""
        self.failing = status

    def expect(self, holds: object, what: str) -> None:
        if not holds:
            raise Unexpected(what)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if self.failing:
            return web.json_response({"error": {"message": "It fails."}}, status=self.failing)
        sent = f"{request.query_string} {list(request.headers.values())}"
        if self.key not in sent and not self.key_in_message:
            return web.json_response({"error": {"message": "Wrong key."}}, status=401)
        try:
            return await self.handle(request)
        except Unexpected as error:
            self.unexpected.append(f"{request.method} {request.path}: {error}")
            return web.json_response({"error": {"message": str(error)}}, status=400)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        raise NotImplementedError

    @contextlib.asynccontextmanager
    async def serve(self, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
        """Serve it on this machine: HOST:PORT."""
        app = web.Application(client_max_size=self.file_limit)
        app.router.add_route("*", "/{path:.*}", self.answer)
        runner = web.AppRunner(app, shutdown_timeout=1)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
            yield f"127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()


class WebSocketService(Service):
    """A service with which a bot talks over a WebSocket."""

    subprotocols: tuple[str, ...] = ()

    def __init__(self, script: Script, key: str) -> None:
        super().__init__(script, key)
        self._open: set[web.WebSocketResponse] = set()

    async def fail(self, status: int) -> None:
        await super().fail(status)
        for ws in list(self._open):
            await ws.close(code=1011, message=b"It fails.")

    def opened(self, request: web.Request) -> Any:
        """Check the request that opens a connection; returns its state."""

    async def begin(self, ws: web.WebSocketResponse, session: Any) -> None:
        """Say what the service says first."""

    async def received(self, ws: web.WebSocketResponse, session: Any, message: Any) -> None:
        """Answer a message: bytes, an object of JSON, or a word."""
        raise NotImplementedError

    async def handle(self, request: web.Request) -> web.StreamResponse:
        session = self.opened(request)
        ws = web.WebSocketResponse(protocols=self.subprotocols)
        await ws.prepare(request)
        self._open.add(ws)
        try:
            await self.begin(ws, session)
            async for message in ws:
                if message.type == WSMsgType.BINARY:
                    await self.received(ws, session, message.data)
                elif message.type == WSMsgType.TEXT and message.data:
                    text = message.data
                    await self.received(ws, session, json.loads(text) if text[0] == "{" else text)
        except Unexpected as error:
            self.unexpected.append(f"{request.path}: {error}")
            await ws.close(code=1008, message=str(error).encode()[:120])
        except ConnectionError:
            pass  # the bot has hung up
        finally:
            self._open.discard(ws)
        return ws


def wav_sound(data: bytes) -> tuple[bytes, int]:
    """The samples of a WAV file, mono PCM of 16 bits, and their rate."""
    with wave.open(io.BytesIO(data)) as wav:
        if (wav.getnchannels(), wav.getsampwidth()) != (1, 2):
            raise Unexpected("not mono, or not of 16 bits")
        return wav.readframes(wav.getnframes()), wav.getframerate()


@dataclass
class Listener:
    """Finds the sentences in the audio of one connection, as a service does."""

    script: Script
    rate: int  # samples a second
    pause: float = 0.5  # seconds of silence that end a sentence
    audio: bytes = b""
    speaking: bool = False
    silence: float = 0.0

    def take(self, pcm: bytes) -> Iterator[tuple[str, str]]:
        """Listen to mono PCM of 16 bits. Gives "started", "partial" and "ended", with the text."""
        loud = loudness(pcm) > LOUD
        if loud and not self.speaking:
            self.speaking = True
            yield "started", ""
        if not self.speaking:
            self.audio = self.audio[-self.rate :] + pcm  # the half second before counts
            return
        self.audio += pcm
        self.silence = 0.0 if loud else self.silence + len(pcm) / 2 / self.rate
        if self.silence >= self.pause:
            yield "ended", self.end()
        elif loud and (text := self.script.partly_heard(len(self.audio) / 2 / self.rate)):
            yield "partial", text

    def end(self) -> str:
        """End the sentence: its text, "" if nothing was said."""
        text = self.script.heard(self.audio, self.rate) if self.speaking else ""
        self.audio, self.speaking, self.silence = b"", False, 0.0
        return text


def pieces(pcm: bytes, rate: int) -> Iterator[bytes]:
    """Audio as services send it: 0.2 seconds at a time."""
    size = rate // 5 * 2
    return (pcm[at : at + size] for at in range(0, len(pcm), size))


def word_times(text: str, pcm: bytes, rate: int, start: float = 0.0) -> list[tuple[str, float]]:
    """The words of `text` and when each begins, in seconds from `start` on."""
    words = text.split()
    each = len(pcm) / 2 / rate / max(1, len(words))
    return [(word, round(start + n * each, 3)) for n, word in enumerate(words)]


class Deepgram(WebSocketService):
    """Streaming speech to text: partial results while somebody speaks, then the final one."""

    def opened(self, request: web.Request) -> Listener:
        query = dict(request.query)
        self.expect(request.path == "/v1/listen", "no such path")
        self.expect(query.get("encoding") == "linear16" and query.get("model"), f"query: {query}")
        self.requests.append(query)
        return Listener(self.script, int(query["sample_rate"]))

    async def received(self, ws: web.WebSocketResponse, session: Listener, message: Any) -> None:
        if isinstance(message, bytes):
            for event, text in session.take(message):
                if event != "started":
                    await self._results(ws, text, final=event == "ended")
        elif message["type"] == "Finalize":
            await self._results(ws, session.end(), final=True, from_finalize=True)
        elif message["type"] == "CloseStream":
            await ws.close()
        else:
            self.expect(message["type"] == "KeepAlive", f"message: {message}")

    async def _results(
        self, ws: web.WebSocketResponse, text: str, final: bool, from_finalize: bool = False
    ) -> None:
        model = {"name": "stand-in", "version": "1", "arch": "stand-in"}
        await ws.send_json(
            {
                "type": "Results",
                "channel_index": [0, 1],
                "start": 0.0,
                "duration": 1.0,
                "is_final": final,
                "speech_final": final,
                "from_finalize": from_finalize,
                "channel": {
                    "alternatives": [{"transcript": text, "confidence": 0.99, "words": []}]
                },
                "metadata": {"request_id": "1", "model_uuid": "1", "model_info": model},
            }
        )


SPEAKERS = ("user", "assistant")


class ChatCompletions(Service):
    """The language model, by the API of OpenAI that many services have: streams word for word."""

    pause = 0.0  # seconds before each word

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


class Cartesia(WebSocketService):
    """Streaming text to speech, with the times of words, which go on within a context."""

    def opened(self, request: web.Request) -> dict[str, float]:
        self.expect(request.path == "/tts/websocket", "no such path")
        self.expect(request.headers.get("Cartesia-Version"), "no version of the API")
        return {}  # seconds that were spoken, by context

    async def received(
        self, ws: web.WebSocketResponse, session: dict[str, float], message: Any
    ) -> None:
        if message.get("cancel"):
            return
        form, voice = message["output_format"], message["voice"]
        self.expect((form["container"], form["encoding"]) == ("raw", "pcm_s16le"), f"{form}")
        self.expect(message["model_id"], "no model")
        self.expect(voice["mode"] == "id" and voice["id"], f"voice: {voice}")
        head = {"context_id": message["context_id"], "done": False, "status_code": 206}
        if text := message["transcript"].strip():
            self.requests.append(message)
            await self._speak(ws, session, text, form["sample_rate"], head)
        if not message["continue"]:
            await ws.send_json(head | {"type": "done", "done": True, "status_code": 200})

    async def _speak(
        self,
        ws: web.WebSocketResponse,
        session: dict[str, float],
        text: str,
        rate: int,
        head: dict[str, Any],
    ) -> None:
        pcm = self.script.voice(text, rate)
        start = session.get(head["context_id"], 0.0)
        end = session[head["context_id"]] = start + len(pcm) / 2 / rate
        times = word_times(text, pcm, rate, start)
        starts = [start for _, start in times]
        words = {"words": [word for word, _ in times], "start": starts, "end": [*starts[1:], end]}
        await ws.send_json(head | {"type": "timestamps", "word_timestamps": words})
        for piece in pieces(pcm, rate):
            data = base64.b64encode(piece).decode()
            await ws.send_json(head | {"type": "chunk", "data": data, "step_time": 1.0})
