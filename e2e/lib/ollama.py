"""A stand-in of Ollama's server, as far as bots use it. It loads and unloads a model as needed.

It behaves as Ollama did at commit fb307609 of August 2026, its version 0.33.0-rc2 (server/sched.go,
server/routes.go, middleware/openai.go, openai/openai.go):

- If the client that requested a load disconnects, the load ends, and the next client in line begins
  a new one. Other requests for the model wait in line, and so do requests for another model.
- A model stays in memory for the latest `keep_alive` of a request, counted from the end of the last
  request; without one, for five minutes. The chat of OpenAI's API has no such field.
- /api/ps does not list a model before it is loaded. Until version 0.30 it did.
- It serves one request at a time; the runner ensures that (see runners.py).

    async with served(Ollama("llama3.2", words(ANSWERS), load_takes=20)) as url:
        ... a bot with OLLAMA_BASE_URL=url ...
"""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from aiohttp import web

from standins import Service, Unexpected, own_server

PORT = 11434  # where a bot looks for it
STAYS = 300.0  # seconds that a model stays without anything else said
FOR_EVER = 2**63 / 1e9  # seconds; what Go makes of less than none
UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}
PART = r"(\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h)"

# What a loaded model does: it answers a request for a chat, which has this body.
Chat = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]
# What loads it, and unloads it at the end.
Runner = Callable[[], contextlib.AbstractAsyncContextManager[Chat]]


def now() -> float:
    return asyncio.get_running_loop().time()


def seconds(keep_alive: Any) -> float | None:
    """Parse a `keep_alive`: a number of seconds, or a duration in Go's format ("1h30m")."""
    if keep_alive is None:
        return None
    if isinstance(keep_alive, int | float):
        return float(keep_alive) if keep_alive >= 0 else FOR_EVER
    if keep_alive in ("0", "+0", "-0"):
        return 0.0
    if not re.fullmatch(rf"[-+]?({PART})+", keep_alive):
        raise Unexpected(f"no duration: {keep_alive!r}")
    parts = re.findall(PART, keep_alive)
    return FOR_EVER if keep_alive[0] == "-" else sum(float(n) * UNITS[unit] for n, unit in parts)


@dataclass
class Load:
    """An attempt to load the model."""

    begun: float  # by the clock of the event loop
    ended: float = 0.0
    finished: bool = False  # False at its end: who had asked hung up, or it failed


@dataclass
class Loaded:
    """A model in memory."""

    chat: Chat
    runner: contextlib.AsyncExitStack
    stays: float
    users: int = 0
    timer: asyncio.TimerHandle | None = None
    expires: datetime | None = None  # as of the end of the last request

    def stop_timer(self) -> None:
        if self.timer:
            self.timer.cancel()
        self.timer = None


class Failure(Exception):
    """The model cannot be loaded."""


class Ollama(Service):
    """The server, which holds one model, or none if its name is blank.

    Args:
        model: Its name.
        runner: What loads it, and unloads it at the end.
        load_takes: Seconds that a load takes at least.
        stays: Seconds that a model stays in memory if no request says how long.
        besides: Names of other models that no request is for.
        failure: The error with which loads end.

    `loads` are all attempts to load the model, in order.
    """

    name, host = "ollama", "localhost"

    def __init__(
        self,
        model: str,
        runner: Runner,
        load_takes: float = 0.0,
        stays: float = STAYS,
        besides: tuple[str, ...] = (),
        failure: str = "",
    ) -> None:
        super().__init__()
        self.model, self.runner, self.besides = model, runner, besides
        self.load_takes, self.stays, self.failure = load_takes, stays, failure
        self.loads: list[Load] = []
        self.loaded: Loaded | None = None
        self._line = asyncio.Lock()  # of who wants a model to be loaded, the first first
        self._open: list[web.Request] = []
        self._unloading: set[asyncio.Task[None]] = set()

    @property
    def loading(self) -> bool:
        return bool(self.loads) and not self.loads[-1].ended

    @property
    def finished(self) -> int:
        """How many loads were completed."""
        return sum(load.finished for load in self.loads)

    @property
    def aborted(self) -> int:
        """How many loads were not completed."""
        return sum(not load.finished for load in self.loads if load.ended)

    async def evict(self) -> None:
        """Unload the model for another one, after its running requests."""
        async with self._line:
            if loaded := self.loaded:
                self._expire(loaded)
                while self.loaded is loaded:
                    await asyncio.sleep(0.01)
                await asyncio.gather(*self._unloading)

    async def restart(self) -> None:
        """End, and start again: connections break, and nothing is in memory."""
        for request in self._open:
            if request.transport:
                request.transport.abort()
        while self._open:
            await asyncio.sleep(0.01)
        if self.loaded:
            self._expire(self.loaded)
        await asyncio.gather(*self._unloading)

    # The interface.

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self._open.append(request)
        try:
            return await self._handle(request)
        except Failure as e:
            return self._error(request, 500, str(e))
        finally:
            self._open = [other for other in self._open if other is not request]

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body: dict[str, Any] = await request.json() if request.can_read_body else {}
        self.note(request.path, **body)
        match request.method, request.path:
            case "GET", "/api/version":
                return web.json_response({"version": "0.33.0-rc2"})
            case "GET", "/api/tags":
                models = [self._tag(name) for name in (self.model, *self.besides) if name]
                return web.json_response({"models": models})
            case "GET", "/api/ps":
                return web.json_response({"models": [self._running()] if self.loaded else []})
            case "POST", "/api/generate":
                return await self._generate(request, body)
            case "POST", "/v1/chat/completions":
                if not self._has(body["model"]):
                    return self._not_found(request, body)
                self.expect(body["messages"], "no messages")
                async with self._in_use(None) as chat:
                    return await chat(request, body)
        raise Unexpected("no such path")

    async def _generate(self, request: web.Request, body: dict[str, Any]) -> web.Response:
        """A request without a prompt only loads the model, or unloads it."""
        self.expect(not body.get("prompt"), "it would answer")
        if not self._has(body["model"]):
            return self._not_found(request, body)
        stays = seconds(body.get("keep_alive"))
        if stays == 0:
            if self.loaded:
                self._expire(self.loaded)
            return self._done(body, "unload")
        async with self._in_use(stays):
            return self._done(body, "load")

    def _done(self, body: dict[str, Any], reason: str) -> web.Response:
        created = datetime.now(UTC).isoformat()
        head = {"model": body["model"], "created_at": created, "response": ""}
        return web.json_response(head | {"done": True, "done_reason": reason})

    def _error(self, request: web.Request, status: int, message: str) -> web.Response:
        if not request.path.startswith("/v1/"):
            return web.json_response({"error": message}, status=status)
        kind = "not_found_error" if status == 404 else "api_error"
        error = {"message": message, "type": kind, "param": None, "code": None}
        return web.json_response({"error": error}, status=status)

    def _not_found(self, request: web.Request, body: dict[str, Any]) -> web.Response:
        return self._error(request, 404, f"model '{body['model']}' not found")

    def _has(self, model: str) -> bool:
        return bool(self.model) and full_name(model) == full_name(self.model)

    def _tag(self, model: str) -> dict[str, Any]:
        name = full_name(model)
        details = {
            "parent_model": "",
            "format": "gguf",
            "family": "llama",
            "families": ["llama"],
            "parameter_size": "3.2B",
            "quantization_level": "Q4_K_M",
        }
        about = {"size": 2_019_393_189, "digest": "0" * 64, "details": details}
        return {"name": name, "model": name, "modified_at": "2026-08-21T18:48:22Z"} | about

    def _running(self) -> dict[str, Any]:
        assert self.loaded
        soon = datetime.now(UTC) + timedelta(seconds=self.loaded.stays)
        expires = (self.loaded.expires or soon).isoformat()
        more = {"expires_at": expires, "size_vram": 0, "context_length": 4096}
        tag = self._tag(self.model)
        return {k: v for k, v in tag.items() if k != "modified_at"} | more

    # Loading and unloading.

    @contextlib.asynccontextmanager
    async def _in_use(self, stays: float | None) -> AsyncIterator[Chat]:
        """The loaded model, for one request."""
        if not self.loaded:
            async with self._line:
                if not self.loaded:
                    self.loaded = await self._load()
        loaded = self.loaded
        loaded.users += 1
        loaded.stop_timer()
        if stays is not None:
            loaded.stays = stays
        try:
            yield loaded.chat
        finally:
            loaded.users -= 1
            if not loaded.users:
                self._idle(loaded)

    async def _load(self) -> Loaded:
        load = Load(now())
        self.loads.append(load)
        try:
            async with contextlib.AsyncExitStack() as stack:
                chat = await stack.enter_async_context(self.runner())
                await asyncio.sleep(load.begun + self.load_takes - now())
                if self.failure:
                    raise Failure(self.failure)
                load.finished = True
                return Loaded(chat, stack.pop_all(), self.stays)
        finally:
            load.ended = now()

    def _idle(self, loaded: Loaded) -> None:
        """The last request that used it has ended."""
        if loaded.stays <= 0:
            self._unload(loaded)
            return
        loaded.expires = datetime.now(UTC) + timedelta(seconds=loaded.stays)
        loop = asyncio.get_running_loop()
        loaded.timer = loop.call_later(loaded.stays, self._unload, loaded)

    def _expire(self, loaded: Loaded) -> None:
        """Unload it as soon as nobody uses it."""
        loaded.stop_timer()
        loaded.stays = 0
        if not loaded.users:
            self._unload(loaded)

    def _unload(self, loaded: Loaded) -> None:
        if self.loaded is loaded:
            self.loaded = None
            task = asyncio.create_task(loaded.runner.aclose())
            self._unloading.add(task)
            task.add_done_callback(self._unloading.discard)


def full_name(model: str) -> str:
    return model if ":" in model else f"{model}:latest"


@contextlib.asynccontextmanager
async def served(ollama: Ollama, port: int = PORT) -> AsyncIterator[str]:
    """The server at the port where bots look for it; the address of OpenAI's API."""
    async with own_server(ollama, port, cancels=True) as url:
        try:
            yield url
        finally:
            await ollama.restart()
