"""Keeps places for sessions, on machines of one's own.

Whoever asks gets a place, or is refused. The place is theirs for ten seconds; the session that they
start keeps it until it is over. Requests of a running session need no place.
"""

import asyncio
import contextlib
import os
import time
import uuid
from collections.abc import Coroutine
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from fastapi import HTTPException
from loguru import logger
from pipecat.frames.frames import BotStartedSpeakingFrame
from pipecat.observers.base_observer import BaseObserver, FramePushed
from prometheus_client import Counter, Gauge, Histogram

from watch import Watch

ARRIVE, CONNECT = 10, 20  # seconds to come after asking, and to connect after coming

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
        task = self._running[place.id] = asyncio.create_task(self._run(place, session))
        task.add_done_callback(lambda _: self._running.pop(place.id))
        return task

    async def _run(self, place: Place, session: Coroutine[Any, Any, None]) -> None:
        STARTED.inc()
        FirstWord.asked.set(place.asked)
        try:
            with logger.contextualize(session=place.id):
                await session
        except Exception as e:
            logger.exception(f"Session {place.id} failed: {e}")

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


Watch.others.append(FirstWord)
