"""Keeps places for sessions, on machines of one's own.

Whoever asks gets a place, or is refused. The place is theirs for ten seconds; the session that they
start keeps it until it is over. Requests of a running session need no place.
"""

import argparse
import asyncio
import contextlib
import logging
import os
import signal
import sys
import time
import uuid
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from fastapi import FastAPI, HTTPException, Response, WebSocket
from fastapi.middleware.cors import CORSMiddleware
from loguru import logger
from pipecat.frames.frames import BotStartedSpeakingFrame
from pipecat.observers.base_observer import BaseObserver, FramePushed
from prometheus_client import CONTENT_TYPE_LATEST, Counter, Gauge, Histogram, generate_latest
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from watch import Watch

ARRIVE, CONNECT = 10, 20  # seconds to come after asking, and to connect after coming
MAX_BODY = 64 * 1024  # bytes of a request

REFUSED = Counter("bot_sessions_refused", "Sessions that found no place")
STARTED = Counter("bot_sessions_started", "Sessions that began")
FAILED = Counter("bot_service_failures", "What services failed to do", ["service"])
FIRST_WORD = Histogram(
    "bot_first_word_seconds",
    "From asking for a session to the first sound of the bot",
    buckets=(0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 20),
)


@dataclass
class Place:
    """A place for a session that was asked for."""

    id: str  # of the session
    body: Any  # what came with the question
    asked: float = field(default_factory=time.monotonic)
    until: float = 0  # when it is free again, unless the session has started


class Door:
    """Gives out the places of this process."""

    def __init__(self, places: int):
        self.places, self.loaded, self.stopping = places, True, False
        self._reserved: dict[str, Place] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        Gauge("bot_sessions", "Places that are taken").set_function(self.taken)
        Gauge("bot_sessions_max", "Places").set(places)

    def ready(self) -> bool:
        return self.loaded and not self.stopping

    def has_room(self) -> bool:
        return self.ready() and self.taken() < self.places

    def taken(self) -> int:
        now = time.monotonic()
        self._reserved = {id: place for id, place in self._reserved.items() if place.until > now}
        return len(self._reserved) + len(self._running)

    def reserve(self, body: Any = None) -> Place:
        """Return a place, or raise HTTPException 503: another bot may have one."""
        if not self.has_room():
            REFUSED.inc()
            raise HTTPException(503, "no session can start here")
        # In a cluster the ID begins with the pod's address, to which the router sends its requests.
        pod = os.getenv("POD_IP", "").replace(".", "-").replace(":", "-")
        place = Place(f"{pod}.{uuid.uuid4()}".lstrip("."), body)
        self._keep(place, ARRIVE)
        return place

    def find(self, session_id: str) -> Place | None:
        """Return the place of somebody who came, or None if their session runs already.

        Raises HTTPException 404 if nobody has asked, or longer ago than ARRIVE.
        """
        self.taken()
        if session_id in self._running:
            return None
        if session_id not in self._reserved:
            raise HTTPException(404, "there is no such session")
        self._keep(self._reserved[session_id], CONNECT)
        return self._reserved[session_id]

    def _keep(self, place: Place, seconds: float) -> None:
        place.until = time.monotonic() + seconds
        self._reserved[place.id] = place

    def start(self, place: Place | None, session: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run a session. Its place is free again when it is over.

        Raises HTTPException 404 if the place is not reserved (any more).
        """
        if not place or not self._reserved.pop(place.id, None):
            session.close()
            raise HTTPException(404, "the place of this session is gone")
        task = asyncio.create_task(self._run(place, session))
        self._running[place.id] = task
        return task

    async def _run(self, place: Place, session: Coroutine[Any, Any, None]) -> None:
        STARTED.inc()
        FirstWord.asked.set(place.asked)
        try:
            with logger.contextualize(session=place.id):
                await session
        except Exception as e:
            logger.exception(f"Session {place.id} failed: {e}")
        finally:
            del self._running[place.id]

    async def drain(self, seconds: float) -> None:
        """Let the sessions end that were asked for. End those that still run after that time."""
        self.stopping = True
        logger.info(f"Stopping after the running sessions: {self.taken()}")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.taken():
                    await asyncio.sleep(0.2)
        for session in self._running.values():
            session.cancel()
        while self._running:
            await asyncio.sleep(0.2)


class FirstWord(BaseObserver):
    """Measures how long the bot's first sound takes."""

    asked: ContextVar[float] = ContextVar("asked")

    def __init__(self):
        super().__init__()
        self._since: float | None = self.asked.get(time.monotonic())

    async def on_push_frame(self, data: FramePushed) -> None:
        if self._since and isinstance(data.frame, BotStartedSpeakingFrame):
            FIRST_WORD.observe(time.monotonic() - self._since)
            self._since = None


class Socket(WebSocket):
    """A WebSocket that is closed if nothing has come over it within ten seconds."""

    silent = True

    def __init__(self, websocket: WebSocket):
        super().__init__(websocket.scope, websocket.receive, websocket.send)

    async def receive(self):
        try:
            async with asyncio.timeout(ARRIVE if self.silent else None):
                message = await super().receive()
        except TimeoutError:
            await self.close(1008, "nothing came")
            return {"type": "websocket.disconnect", "code": 1008}
        self.silent = self.silent and message["type"] != "websocket.receive"
        return message


async def refuse(websocket: WebSocket, why: HTTPException) -> None:
    await websocket.send_denial_response(PlainTextResponse(why.detail, why.status_code))


class BoundedBodies:
    """Refuses a long body before it is in memory. Anybody may send one."""

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
        # Addresses, which contain tokens, stay out of the log. The proxy says what was https.
        quiet = {"log_config": None, "log_level": "warning", "access_log": False}
        super().__init__(uvicorn.Config(app, at.host, at.port, forwarded_allow_ips="*", **quiet))
        logger.info(f"Serving up to {door.places} sessions at http://{at.host}:{at.port}")
        self._door, self._load, self._task = door, load, None
        door.loaded = load is None

    async def startup(self, sockets=None) -> None:
        await super().startup(sockets)
        if self._load:
            self._task = asyncio.create_task(self._prepare(self._load))

    async def _prepare(self, load: Callable[[], None]) -> None:
        try:
            await asyncio.to_thread(load)
            self._door.loaded = True
            logger.info("The models are loaded")
        except Exception as e:
            logger.exception(f"The models cannot be loaded: {e}")
            self.should_exit = True

    def handle_exit(self, sig, frame) -> None:
        if sig != signal.SIGTERM:
            super().handle_exit(sig, frame)
        elif not self._door.stopping:
            self._door.stopping = True
            self._task = asyncio.get_running_loop().create_task(self._end())

    async def _end(self) -> None:
        await self._door.drain(float(os.getenv("DRAIN_SECONDS", "3540")))
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
    level = os.getenv("LOG_LEVEL", "INFO")
    logger.add(sys.stderr, level=level, serialize=as_json, diagnose=False)
    logger.add(
        lambda message: FAILED.labels(message.record["extra"]["service"]).inc(),
        filter=lambda record: "service" in record["extra"],
    )
    logging.basicConfig(handlers=[ToLoguru()], level=logging.WARNING, force=True)
    # uvicorn takes a WebSocket that is refused for one that is forgotten.
    forgotten = "ASGI callable returned without completing handshake."
    logging.getLogger("uvicorn.error").addFilter(lambda record: record.getMessage() != forgotten)


Watch.others.append(FirstWord)
