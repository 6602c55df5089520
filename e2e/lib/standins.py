"""Stand-ins of the services that bots talk to, on loopback, strict both ways.

A `Service` plays one host. `StandIns` serves several of them over TLS on one port, as their owners
do, and keeps requests as data for a test to assert. A request that a service does not expect fails
the test when `StandIns` closes. The test itself asserts that the expected requests came.

    async with StandIns(Deepgram(...), OpenAI(...), Cartesia(...)) as services:
        ... start the bot with services.env ...
        assert services.requests("openai", "chat")[0]["model"] == "gpt-4.1"
        assert services.names_asked() == services.hosts

The services themselves are in services.py.
"""

import asyncio
import contextlib
import ssl
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import trustme
from aiohttp import web

import network
import stand_ins
from stand_ins import Script, Unexpected

SHIM = Path(__file__).parent / "shim"


class Service(stand_ins.Service):
    """One host. Subclasses answer in `handle`."""

    name: str
    host: str

    def __init__(self, key: str = "", script: Script | None = None) -> None:
        super().__init__(script or Script(), key)
        self.notes: list[tuple[str, dict[str, Any]]] = []

    def note(self, kind: str, **data: Any) -> None:
        """Keep a request for the test."""
        self.notes.append((kind, data))

    def asked(self) -> list[tuple[str, dict[str, Any]]]:
        """What it was asked, by kind."""
        return self.notes

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if self.failing:
            return await super().answer(request)
        try:
            return await self.handle(request)
        except Unexpected as error:
            self.unexpected.append(f"{request.method} {request.url}: {error}")
            return web.Response(status=400, text=str(error))


class WebSocketService(Service, stand_ins.WebSocketService):
    """A host with a WebSocket. Subclasses fill in `opened` and `received`."""


class Shared(Service):
    """A host with the protocol of a stand-in that projects have, which is the base behind this one.

    It is stricter than the base: a wrong key fails the test.
    """

    place: tuple[str, str]  # the method and the path of all requests
    key_in = "Authorization", "Bearer "  # a header, and what it has before the key
    kind = ""  # what tests call its requests; "" where each has a type

    async def handle(self, request: web.Request) -> web.StreamResponse:
        place = (request.method, request.path)
        self.expect(place == self.place, f"no such path: {place}")
        header, before = self.key_in
        self.expect(request.headers.get(header) == before + self.key, "wrong key")
        return await super().handle(request)

    def asked(self) -> list[tuple[str, dict[str, Any]]]:
        return [*self.notes, *((self.kind or asked["type"], asked) for asked in self.requests)]


@contextlib.asynccontextmanager
async def own_server(service: Service, port: int = 0, cancels: bool = False) -> AsyncIterator[str]:
    """The service on a machine of one's own, without TLS; the address of its API.

    If it cancels, it abandons a request as soon as the connection is closed.
    """
    app = web.Application(client_max_size=64 << 20)
    app.router.add_route("*", "/{path:.*}", service.answer)
    runner = web.AppRunner(app, shutdown_timeout=1, handler_cancellation=cancels)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()
    assert service.unexpected == [], service.unexpected


class StandIns:
    """Serves the services for as long as the `async with` lasts.

    `env` is the environment that a bot needs to find them: the certificate authority to trust and,
    without a network namespace, the shim.
    """

    def __init__(self, *services: Service):
        self.services = services
        self.hosts = {service.host for service in services}
        self.env: dict[str, str] = {}
        self._strangers: list[str] = []
        self.names: network.Names | None = None

    async def __aenter__(self) -> "StandIns":
        async with AsyncExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="e2e-")))
            authority = trustme.CA()
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            authority.issue_cert("localhost", *sorted(self.hosts)).configure_cert(context)
            authority.cert_pem.write_to_path(str(folder / "ca.pem"))
            self.env = {"SSL_CERT_FILE": str(folder / "ca.pem")}

            app = web.Application(client_max_size=64 << 20)
            app.router.add_route("*", "/{path:.*}", self._dispatch)
            runner = web.AppRunner(app, shutdown_timeout=1)
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            port = 443 if network.fenced() else 0
            await web.TCPSite(runner, "127.0.0.1", port, ssl_context=context).start()
            self._names_log = folder / "names"
            if network.fenced():
                self.names = await stack.enter_async_context(network.Names(self.hosts))
            else:
                self.env |= {
                    "E2E_TLS_PORT": str(runner.addresses[0][1]),
                    "E2E_NAMES_LOG": str(self._names_log),
                    "PYTHONPATH": str(SHIM),
                }
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        names = self.names_asked()
        await self._stack.aclose()
        # Shown even when the test has failed already: it is often the reason.
        if wrong := [*self._strangers, *(u for s in self.services for u in s.unexpected)]:
            raise AssertionError("asked for what nobody should ask for:\n" + "\n".join(wrong))
        if kind is None and (others := names - self.hosts):
            raise AssertionError(f"hosts were looked up that nobody named: {others}")

    async def _dispatch(self, request: web.Request) -> web.StreamResponse:
        for service in self.services:
            if request.url.host == service.host:
                return await service.answer(request)
        self._strangers.append(f"{request.method} {request.url}")
        return web.Response(status=404)

    def requests(self, service: str, kind: str | None = None) -> list[dict[str, Any]]:
        """What a service was asked, in order."""
        return [
            data
            for s in self.services
            for noted, data in s.asked()
            if s.name == service and kind in (None, noted)
        ]

    async def wait_for(
        self, service: str, kind: str, holds: Callable[[dict[str, Any]], bool], timeout: float = 60
    ) -> dict[str, Any]:
        """The first request that `holds` is true of, as soon as it is there."""
        now = asyncio.get_running_loop().time
        deadline = now() + timeout
        while now() < deadline:
            for data in self.requests(service, kind):
                if holds(data):
                    return data
            await asyncio.sleep(0.05)
        raise AssertionError(
            f"{service} was not asked this ({kind}) within {timeout:g} s; it was asked "
            f"{self.requests(service)}"
        )

    def names_asked(self) -> set[str]:
        """The hosts that were looked up, those of this machine aside."""
        if self.names:
            return set(self.names.asked)
        return set(self._names_log.read_text().split()) if self._names_log.exists() else set()
