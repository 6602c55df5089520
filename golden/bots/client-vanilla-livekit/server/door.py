"""Limits how many sessions run at once, on your own machines.

A request for a session gets a place, or is refused. The place is reserved for ten seconds. The
session that then starts keeps it until it ends. Requests of a running session need no place.
"""

import asyncio
import contextlib
import os
import time
import uuid
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

from fastapi import HTTPException
from loguru import logger
from prometheus_client import Counter, Gauge, Histogram

ARRIVE, CONNECT, JOIN = 10, 20, 30  # seconds: to come after asking, to connect, to be there

REFUSED = Counter("bot_sessions_refused", "Questions for a place that was not there")
STARTED = Counter("bot_sessions_started", "Sessions that began")
TAKEN = Gauge("bot_sessions", "Places that are taken")
PLACES = Gauge("bot_sessions_max", "Places")
FAILED = Counter("bot_service_failures", "What services failed to do", ["service"])
WAITED = Counter("bot_service_delays", "How often people waited for a service", ["service"])
FIRST_WORD = Histogram(
    "bot_first_word_seconds",
    "From asking for a session to the first sound of the bot",
    buckets=(0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 20),
)


@dataclass
class Place:
    """A place for a session that was asked for."""

    id: str  # of the session
    body: Any  # what came with the request
    asked: float = field(default_factory=time.monotonic)
    until: float = 0  # when it is free again, unless the session has started
    came: bool = False  # the person who asked
    joined: bool = False  # the session
    heard: bool = False  # the bot's first sound
    session: asyncio.Task[None] | None = None  # once it runs


class Door:
    """Gives out the places of this process."""

    def __init__(self, places: int):
        self.places, self.loaded, self.stopping = places, True, False
        self._reserved: dict[str, Place] = {}
        self._running: dict[str, Place] = {}
        TAKEN.set_function(self.taken)
        PLACES.set(places)

    def ready(self) -> bool:
        return self.loaded and not self.stopping

    def has_room(self) -> bool:
        return self.ready() and self.taken() < self.places

    def taken(self) -> int:
        self._expire()
        return len(self._reserved) + len(self._running)

    def _expire(self) -> None:
        now = time.monotonic()
        self._reserved = {id: place for id, place in self._reserved.items() if place.until > now}

    def reserve(self, body: Any = None) -> Place:
        """Return a place, or raise HTTPException 503: another bot may have one."""
        if not self.has_room():
            REFUSED.inc()
            raise HTTPException(503, "no session can start here")
        # In a cluster the ID begins with the pod's address, to which the router sends its requests.
        pod = os.getenv("POD_IP", "").replace(".", "-")
        place = Place(f"{pod}.{uuid.uuid4()}".lstrip("."), body)
        place.until = time.monotonic() + ARRIVE
        self._reserved[place.id] = place
        return place

    def find(self, session_id: str) -> Place | None:
        """Return the place of somebody who came, or None if their session is running already.

        Raises HTTPException 404 if nobody has asked for it within the last ARRIVE seconds.
        """
        self._expire()
        if session_id in self._running:
            return None
        if session_id not in self._reserved:
            raise HTTPException(404, "there is no such session")
        place = self._reserved[session_id]
        if not place.came:
            place.came, place.until = True, time.monotonic() + CONNECT
        return place

    def start(
        self, place: Place, session: Coroutine[Any, Any, None], call: bool = False
    ) -> asyncio.Task[None]:
        """Run a session. Its place is free again when it is over, or if nobody joins it.

        Args:
            place: What `reserve` or `find` returned.
            session: What to run.
            call: Whether it is a call, which may ring for long.

        Raises HTTPException 404 if the place is not reserved any more.
        """
        self._expire()
        if not self._reserved.pop(place.id, None):
            session.close()
            raise HTTPException(404, "nobody came in time, and the place is gone")
        task = place.session = asyncio.create_task(self._run(place, session))
        self._running[place.id] = place
        task.add_done_callback(lambda _: self._running.pop(place.id))
        if not call:
            task.get_loop().call_later(JOIN, lambda: place.joined or task.cancel())
        return task

    async def _run(self, place: Place, session: Coroutine[Any, Any, None]) -> None:
        STARTED.inc()
        try:
            with logger.contextualize(session=place.id):
                await session
        except Exception as e:
            logger.exception(f"Session {place.id} failed: {e}")

    def count(self, message: Any) -> None:
        """Count what watch.py logs about the sessions."""
        extra = message.record["extra"]
        place = self._running.get(extra.get("session"))
        if "service" in extra:
            FAILED.labels(extra["service"]).inc()
        elif "waiting" in extra:
            WAITED.labels(extra["waiting"]).inc()
        elif place and extra.get("event") == "ClientConnectedFrame":
            place.joined = True
        elif place and extra.get("event") == "BotStartedSpeakingFrame" and not place.heard:
            place.heard = True
            FIRST_WORD.observe(time.monotonic() - place.asked)

    async def drain(self, seconds: float) -> None:
        """Let the sessions end that were asked for. End those that still run after that time."""
        self.stopping = True
        logger.info(f"Stopping after the running sessions: {self.taken()}")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.taken():
                    await asyncio.sleep(0.2)
        for place in self._running.values():
            if place.session:
                place.session.cancel()
        while self._running:
            await asyncio.sleep(0.2)
