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
from fastapi import FastAPI, HTTPException, Response, WebSocket
from fastapi.middleware.cors import CORSMiddleware
from loguru import logger
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from door import ARRIVE, Door

MAX_BODY = 64 * 1024  # bytes of a request
RATE = 400_000  # bytes a second over a WebSocket: twice what sound takes at 48 kHz, in two channels


class Socket(WebSocket):
    """A WebSocket that is closed if nothing comes within ten seconds, or more than sound does."""

    silent, received, spare = True, 0, 1_000_000  # bytes, at RATE and those beside

    def __init__(self, websocket: WebSocket):
        super().__init__(websocket.scope, websocket.receive, websocket.send)
        self.began = time.monotonic()

    async def receive(self):
        try:
            async with asyncio.timeout(ARRIVE if self.silent else None):
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


class BoundedBodies:
    """Refuses a long body before it is in memory. Anybody can send one."""

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        size = 0

        async def bounded() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if scope["type"] == "http" and size > MAX_BODY:
                raise HTTPException(413, f"the body is longer than {MAX_BODY} bytes")
            return message

        await self._app(scope, bounded, send)


def new_app(door: Door) -> FastAPI:
    """Return what tells probes, the router and Prometheus about the door."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(BoundedBodies)
    origins = os.getenv("PIPECAT_ALLOWED_ORIGINS", "*").replace(" ", "").split(",")
    app.add_middleware(
        CORSMiddleware, allow_origins=origins, allow_methods=["*"], allow_headers=["*"]
    )

    @app.get("/status")
    async def status() -> dict[str, str]:
        """Say that the program works."""
        return {"status": "ready"}

    @app.get("/ready")
    async def ready(response: Response) -> dict[str, bool]:
        """Say whether this bot takes part. A full one does."""
        response.status_code = 200 if door.ready() else 503
        return {"ready": door.ready()}

    @app.get("/metrics")
    async def metrics() -> Response:
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    return app


class Server(uvicorn.Server):
    """Serves until SIGTERM, and then until the running sessions are over.

    Sessions can start once `load` has returned, which is called in a thread of its own.
    """

    def __init__(self, app: Any, door: Door, load: Callable[[], None] | None = None):
        parser = argparse.ArgumentParser()
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=7860)
        at = parser.parse_args()
        config = uvicorn.Config(
            app,
            at.host,
            at.port,
            http="h11",  # bounds the head of a request, which the faster parser does not
            ws_max_size=1_000_000,
            log_config=None,
            log_level="warning",  # addresses contain tokens, and stay out of the log
            access_log=False,
            forwarded_allow_ips="*",  # a proxy says what was https
        )
        super().__init__(config)
        logger.info(f"Serving up to {door.places} sessions at http://{at.host}:{at.port}")
        self._door, self._load = door, load
        self._loading: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None
        door.loaded = load is None

    async def startup(self, sockets=None) -> None:
        await super().startup(sockets)
        gc.freeze()  # what is loaded by now stays, so that nobody looks for garbage in it
        if self._load:
            self._loading = asyncio.create_task(self._prepare(self._load))

    async def _prepare(self, load: Callable[[], None]) -> None:
        try:
            await asyncio.to_thread(load)
            gc.freeze()
            self._door.loaded = True
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
        await self._door.drain(float(os.getenv("DRAIN_SECONDS", "3540")))
        self.should_exit = True


class ToLoguru(logging.Handler):
    """Passes on what other packages log."""

    def emit(self, record: logging.LogRecord) -> None:
        logger.opt(exception=record.exc_info).log(record.levelname, "{}", record.getMessage())


def set_up_logs(door: Door) -> None:
    """Log to stderr: with LOG_FORMAT=json an object a line, at LOG_LEVEL (INFO) and above."""
    as_json = os.getenv("LOG_FORMAT") == "json"
    logger.remove()
    # `diagnose` would add the values of variables to tracebacks, keys among them.
    level = os.getenv("LOG_LEVEL", "INFO").upper()
    logger.add(sys.stderr, level=level, serialize=as_json, diagnose=False)
    logger.add(door.count, level="DEBUG")
    logging.basicConfig(handlers=[ToLoguru()], level=logging.WARNING, force=True)
    # uvicorn takes a WebSocket that is refused for one that is forgotten.
    forgotten = "ASGI callable returned without completing handshake."
    logging.getLogger("uvicorn.error").addFilter(lambda record: record.getMessage() != forgotten)
