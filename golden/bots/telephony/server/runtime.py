"""Runs the app of self_host.py: limits, probes, logs, and a shutdown that lets sessions end.

A proxy in front of it stops requests that are slow, large or too frequent.
"""

import argparse
import asyncio
import contextlib
import gc
import logging
import os
import signal
import socket
import time
from collections.abc import Callable
from typing import Any

import uvicorn
from fastapi import FastAPI, HTTPException, Request, Response, WebSocket
from fastapi.exceptions import RequestValidationError
from loguru import logger
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

import log
from sessions import RESERVED_FOR, Sessions

MAX_CONNECTIONS = 500  # further requests are answered with 503
MAX_HEAD = 32 * 1024  # bytes of a request's head
MAX_MESSAGE = 1_000_000  # bytes of a WebSocket's message
KEEP_ALIVE = 30  # seconds; longer than HAProxy keeps an unused connection (pool-purge-delay)


class LimitedWebSocket(WebSocket):
    """A WebSocket that is closed if its client sends nothing at first, or more than audio needs.

    Attributes:
        first_within: Seconds in which the first message has to come.
        rate: Bytes a second: twice what audio takes at 48 kHz, in two channels.
        burst: Bytes beyond that.
    """

    first_within = RESERVED_FOR
    rate = 400_000
    burst = 1_000_000

    def __init__(self, websocket: WebSocket):
        super().__init__(websocket.scope, websocket.receive, websocket.send)
        self._opened_at = time.monotonic()
        self._received = 0  # bytes
        self._has_message = False

    async def receive(self):
        try:
            async with asyncio.timeout(None if self._has_message else self.first_within):
                message = await super().receive()
        except TimeoutError:
            return await self._end("nothing came")
        if message["type"] == "websocket.receive":
            self._has_message = True
            self._received += len(message.get("bytes") or message.get("text") or "")
        if self._received > self.burst + self.rate * (time.monotonic() - self._opened_at):
            return await self._end("too much came")
        return message

    async def _end(self, reason: str) -> dict[str, Any]:
        await self.close(1008, reason)
        return {"type": "websocket.disconnect", "code": 1008}


async def refuse(websocket: WebSocket, why: HTTPException) -> None:
    """Answer the request for a WebSocket with an error."""
    await websocket.send_denial_response(PlainTextResponse(why.detail, why.status_code))


def max_call_seconds() -> int:
    """Return how long a telephone call may last. Call it once bot.py has loaded .env."""
    return int(os.getenv("MAX_SESSION_SECONDS", "900"))


def public_url() -> str:
    """Return the https address of the bot, without a slash at its end; "" if it is not known."""
    domain = os.getenv("DOMAIN")
    return os.getenv("BOT_PUBLIC_URL", f"https://{domain}" if domain else "").rstrip("/")


def new_app() -> FastAPI:
    """Return an app without pages and errors that describe it to strangers."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)

    @app.exception_handler(RequestValidationError)
    async def explain(request: Request, e: RequestValidationError) -> JSONResponse:
        """Say what is wrong without what was sent, which would be in the error."""
        wrong = [{"loc": error["loc"], "msg": error["msg"]} for error in e.errors()]
        return JSONResponse({"detail": wrong}, 422)

    return app


def probes_app(sessions: Sessions) -> Starlette:
    """Return the app for the router, the orchestrator and Prometheus."""

    async def status(request: Request) -> Response:
        """Whether the program works."""
        return PlainTextResponse("ready")

    async def ready(request: Request) -> Response:
        """Whether the router may send sessions here. A full bot counts as ready."""
        return PlainTextResponse("", 200 if sessions.accepts() else 503)

    async def metrics(request: Request) -> Response:
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    routes = [Route("/status", status), Route("/ready", ready), Route("/metrics", metrics)]
    return Starlette(routes=routes)


def serve(app: FastAPI, sessions: Sessions, load: Callable[[], None] | None = None) -> None:
    """Serve until SIGTERM, and then until the running sessions have ended.

    Probes and metrics are at the next port, which no proxy forwards.

    Args:
        load: Loads models, in a worker thread. No session starts before it has returned.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=7860)
    at = parser.parse_args()
    server = uvicorn.Config(
        app,
        at.host,
        at.port,
        http="h11",  # which has the limit of the head
        h11_max_incomplete_event_size=MAX_HEAD,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=5,  # seconds, once no session runs
        ws_max_size=MAX_MESSAGE,
        log_config=None,
        log_level="warning",  # addresses contain tokens, and stay out of the log
        access_log=False,
        forwarded_allow_ips="*",  # the proxy says what was https
    )
    probes = uvicorn.Config(
        probes_app(sessions), at.host, at.port + 1, log_config=None, access_log=False
    )
    sockets = [config.bind_socket() for config in (server, probes)]  # or exits: a port is taken
    with contextlib.suppress(KeyboardInterrupt):
        servers = [uvicorn.Server(config) for config in (server, probes)]
        asyncio.run(_serve(servers, sockets, sessions, load))


async def _serve(
    servers: list[uvicorn.Server],
    sockets: list[socket.socket],
    sessions: Sessions,
    load: Callable[[], None] | None,
) -> None:
    sessions.is_loaded = False
    serving = [
        asyncio.create_task(server.serve([listener]))
        for server, listener in zip(servers, sockets, strict=True)
    ]
    while not all(server.started for server in servers):
        await asyncio.sleep(0.05)
    terminated, interrupted = asyncio.Event(), asyncio.Event()
    # In place of uvicorn's own handlers, which would close all WebSockets immediately.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminated.set)
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, interrupted.set)

    async def load_and_drain() -> None:
        if load:
            await asyncio.to_thread(load)
            logger.info("The models are loaded")
        gc.freeze()  # garbage collection skips what is loaded by now
        sessions.is_loaded = True
        at = servers[0].config
        logger.info(f"Serving up to {sessions.capacity} sessions at http://{at.host}:{at.port}")
        logger.info("Requests are not limited here: put a proxy in front, see deploy/README.md")
        await terminated.wait()
        await sessions.drain(float(os.getenv("DRAIN_SECONDS", "3540")))

    until_drained = asyncio.create_task(load_and_drain())
    ends = [until_drained, asyncio.create_task(interrupted.wait()), *serving]
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    if interrupted.is_set() and not sessions.is_loaded:
        os._exit(130)  # without waiting for load(), which may download models
    for server in servers:
        server.should_exit = True
    await asyncio.gather(*serving)
    if until_drained.done():
        until_drained.result()


class ToLoguru(logging.Handler):
    """Passes on what other packages log."""

    def emit(self, record: logging.LogRecord) -> None:
        logger.opt(exception=record.exc_info).log(record.levelname, "{}", record.getMessage())


def set_up_logs() -> None:
    """Log to stderr: with LOG_FORMAT=json an object a line, at LOG_LEVEL (INFO) and above."""
    log.set_up(os.getenv("LOG_LEVEL", "INFO").upper(), as_json=os.getenv("LOG_FORMAT") == "json")
    logging.basicConfig(handlers=[ToLoguru()], level=logging.WARNING, force=True)
    # uvicorn reports a refused WebSocket as one that was never answered.
    forgotten = "ASGI callable returned without completing handshake."
    logging.getLogger("uvicorn.error").addFilter(lambda record: record.getMessage() != forgotten)
