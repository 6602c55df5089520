"""Limits how many sessions run at once, on your own machines.

A request for a session gets a place, or is refused. The place is reserved for ten seconds. The
session that then starts keeps it until it ends. Requests of a running session need no place. An
address gets few places in a minute, and keeps half of them at most while nobody has come.
"""

import asyncio
import collections
import contextlib
import os
import time
import uuid
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass, field
from typing import Any

from fastapi import HTTPException
from loguru import logger
from prometheus_client import Counter, Gauge, Histogram

ARRIVE, CONNECT, JOIN = 10, 20, 30  # seconds: to come after asking, to connect, to be there
LONGEST = int(os.getenv("MAX_SESSION_SECONDS", "3600"))

SECONDS = (0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 20)
REFUSED = Counter("bot_sessions_refused", "Questions for a place that were not granted")
STARTED = Counter("bot_sessions_started", "Sessions that began")
TAKEN = Gauge("bot_sessions", "Places that are taken")
PLACES = Gauge("bot_sessions_max", "Places")
FAILED = Counter("bot_service_failures", "What services failed to do", ["service"])
WAITED = Counter("bot_service_delays", "How often people waited for a service", ["service"])
FIRST_WORD = Histogram("bot_first_word_seconds", "From asking to the first sound", buckets=SECONDS)
TURN = Histogram("bot_turn_seconds", "From a person's last word to the answer", buckets=SECONDS)
MINUTES = (10, 30, 60, 120, 300, 600, 1200, 1800, 3600)
LASTED = Histogram("bot_session_seconds", "How long sessions last", buckets=MINUTES)
ENDED = Counter("bot_sessions_ended", "Why: left, service, time, nobody, stopped, failed", ["why"])


@dataclass
class Place:
    """A place for a session that was asked for."""

    id: str  # of the session
    body: Any  # what came with the request
    address: str = ""  # that it came from, if it is known
    asked: float = field(default_factory=time.monotonic)
    until: float = 0  # when it is free again, unless the session has started
    came: bool = False  # the person who asked
    joined: bool = False  # the session
    heard: bool = False  # the bot's first sound
    spoke: float = 0  # when the person ended a sentence that has no answer yet
    why: str = "left"  # the session ends
    session: asyncio.Task[None] | None = None  # once it runs


class Door:
    """Gives out the places of this process."""

    COUNTED = {"event", "service", "waiting"}  # in the records for `count`

    def __init__(self, places: int, share: int = 10):
        self.places, self.loaded, self.stopping = places, True, False
        self._share = share  # of an address, in a minute
        self._minute, self._given = 0, collections.Counter[str]()
        self._reserved: dict[str, Place] = {}
        self._running: dict[str, Place] = {}
        TAKEN.set_function(self.taken)
        PLACES.set_function(lambda: self.places if self.ready() else self.taken())

    def ready(self) -> bool:
        return self.loaded and not self.stopping

    def taken(self) -> int:
        self._expire()
        return len(self._reserved) + len(self._running)

    def _expire(self) -> None:
        now = time.monotonic()
        self._reserved = {id: place for id, place in self._reserved.items() if place.until > now}

    def reserve(self, body: Any = None, address: str = "") -> Place:
        """Return a place for somebody from that address, if it is known.

        Raises HTTPException 429 if the address has had its share, and 503 if this bot has none.
        """
        if (minute := int(time.monotonic() // 60)) != self._minute:
            self._minute, self._given = minute, collections.Counter()
        taken, share_is_over = self.taken(), address and self._given[address] >= self._share
        waiting = sum(it.address == address for it in self._reserved.values()) if address else 0
        if not self.ready() or taken >= self.places or 2 * waiting >= self.places or share_is_over:
            REFUSED.inc()
            raise HTTPException(429 if share_is_over else 503, "no session can start here now")
        self._given[address] += 1
        # In a cluster the ID begins with the pod's address, to which the router sends its requests.
        pod = os.getenv("POD_IP", "").replace(".", "-")
        place = Place(f"{pod}.{uuid.uuid4()}".lstrip("."), body, address)
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

        A call may ring for long. Raises HTTPException 404 if the place is not reserved any more.
        """
        self._expire()
        if not self._reserved.pop(place.id, None):
            session.close()
            raise HTTPException(404, "nobody came in time, and the place is gone")
        task = place.session = asyncio.create_task(self._run(place, session))
        self._running[place.id] = place
        task.add_done_callback(lambda _: self._running.pop(place.id))
        if call:
            place.asked = 0  # who is called has to answer first
        else:
            task.get_loop().call_later(JOIN, lambda: place.joined or self._end(place, "nobody"))
        return task

    @contextlib.contextmanager
    def kept(self, place: Place) -> Iterator[None]:
        """Free the place if what was begun for it fails."""
        try:
            yield
        except BaseException:
            self._reserved.pop(place.id, None)
            raise

    def _end(self, place: Place, why: str) -> None:
        if place.session:
            place.why = why
            place.session.cancel()

    async def _run(self, place: Place, session: Coroutine[Any, Any, None]) -> None:
        STARTED.inc()
        began, limit = time.monotonic(), asyncio.timeout(LONGEST)
        try:
            with logger.contextualize(session=place.id):
                async with limit:
                    await session
        except Exception as e:
            place.why = "failed"
            if not limit.expired():
                logger.exception(f"Session {place.id} failed: {e}")
        finally:
            LASTED.observe(time.monotonic() - began)
            ENDED.labels("time" if limit.expired() else place.why).inc()

    def count(self, message: Any) -> None:
        """Count what watch.py logs about the sessions."""
        extra, now = message.record["extra"], time.monotonic()
        place = self._running.get(extra.get("session"))
        match extra:
            case {"service": label}:
                FAILED.labels(label).inc()
                if place:
                    place.why = "service"  # has failed, whoever left then
            case {"waiting": label}:
                WAITED.labels(label).inc()
            case {"event": "ClientConnectedFrame"} if place:
                place.joined, place.asked = True, place.asked or now
            case {"event": "VADUserStoppedSpeakingFrame"} if place:
                place.spoke = now
            case {"event": "BotStartedSpeakingFrame"} if place:
                if not place.heard:
                    FIRST_WORD.observe(now - place.asked)
                elif place.spoke:
                    TURN.observe(now - place.spoke)
                place.heard, place.spoke = True, 0

    async def drain(self, seconds: float) -> None:
        """Let the sessions end that were asked for. End those that still run after that time."""
        self.stopping = True
        logger.info(f"Stopping after the running sessions: {self.taken()}")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.taken():
                    await asyncio.sleep(0.2)
        for place in self._running.values():
            self._end(place, "stopped")
        while self._running:
            await asyncio.sleep(0.2)
