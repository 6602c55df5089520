"""Serves a bot on your own machines: sockets, probes, logs, and a shutdown that cuts nobody off."""

import argparse
import asyncio
import gc
import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import uvicorn
from fastapi import FastAPI, HTTPException, Request, Response, WebSocket
from fastapi.exceptions import RequestValidationError
from loguru import logger
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose
from uvicorn.protocols.http.h11_impl import H11Protocol

from sessions import RESERVED_FOR, Sessions

MAX_CONNECTIONS, MAX_REQUEST = 500, 64 * 1024  # bytes
TOO_LONG = b"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
RATE = 400_000  # bytes a second over a WebSocket: twice what sound takes at 48 kHz, in two channels


class Socket(WebSocket):
    """A WebSocket that is closed if nothing comes within ten seconds, or more than sound does."""

    silent, received, spare = True, 0, 1_000_000  # bytes, at RATE and those beside

    def __init__(self, websocket: WebSocket):
        super().__init__(websocket.scope, websocket.receive, websocket.send)
        self.began = time.monotonic()

    async def receive(self):
        try:
            async with asyncio.timeout(RESERVED_FOR if self.silent else None):
                message = await super().receive()
        except TimeoutError:
            await self.close(1008, "nothing came")
            return {"type": "websocket.disconnect", "code": 1008}
        self.silent = self.silent and message["type"] != "websocket.receive"
        self.received += len(message.get("bytes") or message.get("text") or "")
        if self.received > self.spare + RATE * (time.monotonic() - self.began):
            await self.close(1008, "too much came")
            return {"type": "websocket.disconnect", "code": 1008}
        return message


async def refuse(websocket: WebSocket, why: HTTPException) -> None:
    await websocket.send_denial_response(PlainTextResponse(why.detail, why.status_code))


class Connection(H11Protocol):
    """A connection for one request, which comes within ten seconds and MAX_REQUEST bytes."""

    received = 0

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        port = transport.get_extra_info("sockname")[1]
        if len(self.connections) > MAX_CONNECTIONS and port == self.config.port:
            transport.abort()
        self.loop.call_later(RESERVED_FOR, self._hurry)

    def data_received(self, data: bytes) -> None:
        before, self.received = self.received, self.received + len(data)
        if self.received <= MAX_REQUEST:
            super().data_received(data)
        elif before <= MAX_REQUEST:
            self.transport.write(TOO_LONG)  # and what follows is for nobody

    def _hurry(self) -> None:
        began = self.cycle and not self.cycle.more_body
        if self in self.connections and not began:  # and not a WebSocket
            self.transport.abort()


def new_app() -> FastAPI:
    """Return an app for strangers."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)

    @app.exception_handler(RequestValidationError)
    async def explain(request: Request, e: RequestValidationError) -> JSONResponse:
        """Say what is wrong without what was sent, which would be in the error."""
        wrong = [{"loc": error["loc"], "msg": error["msg"]} for error in e.errors()]
        return JSONResponse({"detail": wrong}, 422)

    return app


def probe(sessions: Sessions, scope: Scope) -> ASGIApp:
    """Answer the router, whoever watches over the process, and Prometheus."""
    if scope["type"] == "websocket":
        return WebSocketClose()
    match scope["path"]:
        case "/status":  # whether the program works
            return PlainTextResponse("ready")
        case "/ready":  # whether this bot takes part; a full one does
            return PlainTextResponse("", 200 if sessions.accepts() else 503)
        case "/metrics":
            return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)
    return PlainTextResponse("", 404)


class Server(uvicorn.Server):
    """Serves until SIGTERM, and then until the running sessions are over.

    Probes and metrics have the next port, which nobody publishes. Sessions can start once `load`
    has returned, which is called in a thread of its own.
    """

    def __init__(self, app: Any, sessions: Sessions, load: Callable[[], None] | None = None):
        parser = argparse.ArgumentParser()
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=7860)
        at = parser.parse_args()

        async def by_port(scope: Scope, receive: Receive, send: Send) -> None:
            async def last(message: Message) -> None:
                if message["type"] == "http.response.start":
                    message["headers"] = [*message["headers"], (b"connection", b"close")]
                await send(message)

            probed = "path" in scope and scope["server"][1] == at.port + 1
            await (probe(sessions, scope) if probed else app)(scope, receive, last)

        config = uvicorn.Config(
            by_port,
            at.host,
            at.port,
            http=Connection,  # h11 bounds the head of a request; the faster parser does not
            ws_max_size=1_000_000,
            log_config=None,
            log_level="warning",  # addresses contain tokens, and stay out of the log
            access_log=False,
            forwarded_allow_ips="*",  # a proxy says what was https
        )
        super().__init__(config)
        self._ports = [config, uvicorn.Config(by_port, at.host, at.port + 1, log_config=None)]
        logger.info(f"Serving up to {sessions.capacity} sessions at http://{at.host}:{at.port}")
        self._sessions, self._load = sessions, load
        self._loading: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None
        sessions.is_loaded = load is None

    def run(self, sockets=None) -> None:
        super().run([at.bind_socket() for at in self._ports])

    async def startup(self, sockets=None) -> None:
        await super().startup(sockets)
        gc.freeze()  # what is loaded by now stays, so that nobody looks for garbage in it
        if self._load:
            self._loading = asyncio.create_task(self._prepare(self._load))

    async def _prepare(self, load: Callable[[], None]) -> None:
        try:
            await asyncio.to_thread(load)
            gc.freeze()
            self._sessions.is_loaded = True
            logger.info("The models are loaded")
        except Exception as e:
            logger.exception(f"The models cannot be loaded: {e}")
            self.should_exit = True

    def handle_exit(self, sig, frame) -> None:
        if sig != signal.SIGTERM:
            super().handle_exit(sig, frame)
        elif not self._ending:
            self._ending = asyncio.get_running_loop().create_task(self._end())

    async def _end(self) -> None:
        await self._sessions.drain(float(os.getenv("DRAIN_SECONDS", "3540")))
        self.should_exit = True


class ToLoguru(logging.Handler):
    """Passes on what other packages log."""

    def emit(self, record: logging.LogRecord) -> None:
        logger.opt(exception=record.exc_info).log(record.levelname, "{}", record.getMessage())


def set_up_logs() -> None:
    """Log to stderr: with LOG_FORMAT=json an object a line, at LOG_LEVEL (INFO) and above."""
    as_json = os.getenv("LOG_FORMAT") == "json"
    logger.remove()
    # `diagnose` would add the values of variables to tracebacks, keys among them.
    level = os.getenv("LOG_LEVEL", "INFO").upper()
    logger.add(sys.stderr, level=level, serialize=as_json, diagnose=False)
    logging.basicConfig(handlers=[ToLoguru()], level=logging.WARNING, force=True)
    # uvicorn takes a WebSocket that is refused for one that is forgotten.
    forgotten = "ASGI callable returned without completing handshake."
    logging.getLogger("uvicorn.error").addFilter(lambda record: record.getMessage() != forgotten)
