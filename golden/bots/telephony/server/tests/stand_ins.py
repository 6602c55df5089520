"""The services that this bot uses, played on this machine, over their own protocols.

A test says in `Script` what the model answers. Nothing here needs a key or a network.
"""

import base64
import contextlib
import io
import json
import ssl
import wave
from collections import deque
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
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


class OpenAITranscription(Service):
    """Speech to text of a recording: whole sentences, as WAV files."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.expect(request.path.endswith("/audio/transcriptions"), "no such path")
        form = await request.post()
        self.expect(form.get("model"), "no model")
        file = form.get("file")
        assert isinstance(file, web.FileField)
        pcm, rate = wav_sound(file.file.read())
        self.requests.append({"model": form["model"], "seconds": len(pcm) / 2 / rate})
        return web.json_response({"text": self.script.heard(pcm, rate)})


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


class ElevenLabsSpeech(WebSocketService):
    """Streaming text to speech in several contexts, with the times of characters."""

    def opened(self, request: web.Request) -> tuple[int, set[str]]:
        query = dict(request.query)
        parts = request.path.split("/")
        self.expect(parts[:3] == ["", "v1", "text-to-speech"], "no such path")
        self.expect(len(parts) == 5 and parts[3] and parts[4] == "multi-stream-input", "no voice")
        self.expect(query.get("model_id"), "no model")
        # Without it, the service collects text before it speaks.
        self.expect(query.get("auto_mode") == "true", "no auto mode")
        form, _, rate = query["output_format"].partition("_")
        self.expect(form == "pcm", f"format: {query['output_format']}")
        return int(rate), set()  # the contexts that are open

    async def received(
        self, ws: web.WebSocketResponse, session: tuple[int, set[str]], message: Any
    ) -> None:
        rate, contexts = session
        if message.get("close_socket"):
            await ws.close()
            return
        context = message.get("context_id", "default")
        if message.get("close_context"):
            if context in contexts:
                contexts.remove(context)
                await ws.send_json({"audio": None, "isFinal": True, "contextId": context})
            return
        text = message.get("text", "")
        if context not in contexts and text:
            self.expect(text == " ", f"the first text of a context is {text!r}")
            contexts.add(context)
        elif text.strip():
            self.requests.append(message)
            pcm = self.script.voice(text.strip(), rate)
            chars = [*text.rstrip(), " "]
            each = len(pcm) / 2 / rate * 1000 / len(chars)
            starts = [round(n * each) for n in range(len(chars) + 1)]
            alignment = {
                "chars": chars,
                "charStartTimesMs": starts[:-1],
                "charDurationsMs": [end - start for start, end in pairwise(starts)],
            }
            audio = base64.b64encode(pcm).decode()
            await ws.send_json({"audio": audio, "alignment": alignment, "contextId": context})
