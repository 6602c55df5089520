"""What the stand-ins of all services have in common."""

import contextlib
import io
import json
import ssl
import wave
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from aiohttp import WSMsgType, web

from vbot.testing.sound import loudness, spoken

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
        self.takes_text = True  # what a person types, which models that speak do not
        self.refused: list[str] = []  # what a real service would not have taken
        self.is_told = False  # the test has failed and said why
        # What the model was told by the last request: ("user", text) and ("assistant", text).
        self.conversation: list[tuple[str, str]] = []
        self.instruction = ""
        self.tools: list[str] = []  # names
        self.results: list[str] = []  # of tools, as the model was told them
        self.said: list[str] = []  # what the bot's voice was told to say, in order
        self._replies: dict[str, Reply] = {}
        self._sentences: deque[str] = deque()
        self._last_heard = ""

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
            has = ", ".join(self.tools) or "none"
            raise Unexpected(
                f"The model has no tool {reply.call}: add it to TOOLS in agent.py. It has: {has}."
            )
        return reply

    def wrong(self) -> list[str]:
        """Why the test fails, whatever else happens in it."""
        return self.refused + self.failures()

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
        if not self._sentences or loudness(pcm) <= LOUD / 2:
            return ""
        self._last_heard = self._sentences.popleft()
        return self._last_heard

    def hearing(self) -> str:
        """What the bot has heard, for a test that fails."""
        if self._sentences:
            return f"It did not hear {self._sentences[0]!r}."
        return f"It last heard {self._last_heard!r}." if self._last_heard else "It heard no speech."

    def voice(self, text: str, rate: int) -> bytes:
        """`text` as the bot's voice says it: mono PCM of 16 bits."""
        self.said.append(text)
        return spoken(text, rate)


class Unexpected(Exception):
    """A request that the real service refuses. The test fails."""


class Service:
    """One service. Subclasses answer in `handle`."""

    key_in_message = False  # the key is not in the request's address or head
    greets = True  # with what the script says, as a model does that is fast enough
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

    def refuse(self, what: str) -> None:
        """Note what the real service would not have taken, so that the test fails and says it."""
        self.unexpected.append(what)
        self.script.refused.append(what)

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
            self.refuse(f"{error} ({request.method} {request.path})")
            return web.json_response({"error": {"message": str(error)}}, status=400)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        raise NotImplementedError

    @classmethod
    def client(cls, address: str, system_instruction: str) -> Any:
        """Make a service of the framework that talks with the stand-in at HOST:PORT."""
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
            self.refuse(f"{error} ({request.path})")
            await ws.close(code=1008, message=str(error).encode()[:120])
        except ConnectionError:
            pass  # the bot has hung up
        finally:
            self._open.discard(ws)
        return ws


class Api(Service):
    """An API of your own, for tools. Subclasses answer in `handle`, as its servers do.

    All that test modules define are served, each on a free port of this machine. `requests` has
    what an API was asked, in order: "method", "path", "query" and "body", which may be JSON.
    After `await api.fail(503)` it answers nothing else until the test ends.
    """

    address_in = ""  # the variable with its address, such as "SHOP_API_URL"
    key_in = ""  # the variable with its key; "" if it has none. Any header may have the key

    async def answer(self, request: web.Request) -> web.StreamResponse:
        text = await request.text()
        body: Any = text
        with contextlib.suppress(ValueError):
            body = json.loads(text) if text else None
        asked = {"method": request.method, "path": request.path, "query": dict(request.query)}
        self.requests.append(asked | {"body": body})
        return await super().answer(request)


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


@dataclass
class Role:
    """A service of the bot, and who plays it.

    Args:
        label: The service's name in bot.py.
        stand_in: Who plays it; None if nobody does, as with a face.
        key: The variable with its key; "" if it has none.
        addresses: Variables of its address, where {} stands for HOST:PORT.
        instead_of: The class in bot.py, if no variable has its address. In tests, a class of the
            framework that talks with the stand-in takes its place.
        timed: Whether the framework knows when the service speaks which sentence. Otherwise it
            cannot tell the model where a person interrupted an answer (checked with 1.14).
        certify: If the framework connects only with TLS: makes a certificate. See tls.py.
    """

    label: str
    stand_in: type[Service] | None = None
    key: str = ""
    addresses: dict[str, str] = field(default_factory=dict)
    instead_of: type | None = None
    timed: bool = True
    certify: Callable[[Path], ssl.SSLContext] | None = None

    def variable(self, name: str) -> str:
        """The variable of the stand-in's address, if no variable of the service has it."""
        return f"{name.upper()}_STAND_IN"


Kind = TypeVar("Kind", bound=Service)


class Services:
    """The stand-ins of the services, by their names in bot.py: services["llm"].

    `services.of(CLASS)` is the one of a class, such as that of an API of your own.
    """

    def __init__(self, roles: dict[str, Role], values: Mapping[str, str]) -> None:
        self.script = Script()
        own = {
            api.__name__: Role(api.__name__, api, api.key_in, {api.address_in: "http://{}"})
            for api in Api.__subclasses__()
        }
        self.roles = roles | own
        self._own = own
        self._keys = {role.key: values[role.key] for role in own.values() if role.key}
        self._playing = {
            name: role.stand_in(self.script, values[role.key] if role.key else "")
            for name, role in self.roles.items()
            if role.stand_in
        }
        self.env = dict(self._keys)  # and their addresses, for the bot
        self.bots: list[Any] = []  # that run

    def __getitem__(self, name: str) -> Service:
        return self._playing[name]

    @property
    def env_of_own(self) -> dict[str, str]:
        """The addresses and keys of your own APIs."""
        addresses = [variable for role in self._own.values() for variable in role.addresses]
        return self._keys | {variable: self.env[variable] for variable in addresses}

    def of(self, kind: type[Kind]) -> Kind:
        """The stand-in of this class."""
        return next(service for service in self.all() if type(service) is kind)

    def all(self) -> list[Service]:
        return list(self._playing.values())

    def begin_test(self, greeting: str | None) -> None:
        """Forget earlier tests. `greeting` is what the bot says first, if the model does not."""
        self.script.clear()
        self.script.greeting = greeting or self.script.greeting
        self.script.takes_text = "tts" in self.roles
        for service in self.all():
            service.clear()

    @contextlib.asynccontextmanager
    async def serve(self, folder: Path) -> AsyncIterator["Services"]:
        """Serve all of them on this machine, a port for each. Certificates go into the folder."""
        tls = None
        async with contextlib.AsyncExitStack() as stack:
            for name, service in self._playing.items():
                role = self.roles[name]
                if role.certify and not tls:
                    tls = role.certify(folder / "authority.pem")
                    self.env["SSL_CERT_FILE"] = str(folder / "authority.pem")
                served = service.serve(tls if role.certify else None)
                address = await stack.enter_async_context(served)
                forms = role.addresses or {role.variable(name): "{}"}
                self.env |= {variable: form.format(address) for variable, form in forms.items()}
            yield self
