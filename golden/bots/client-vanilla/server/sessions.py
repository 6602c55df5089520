"""Limits the sessions of this process: how many run at a time, for how long, and who starts them.

A client reserves a session, connects to it within seconds, and keeps it until it ends. What
happens is reported by callbacks; metrics.py makes figures of it.
"""

import asyncio
import collections
import contextlib
import os
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from fastapi import HTTPException
from loguru import logger
from pipecat.frames.frames import TTSSpeakFrame
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.frameworks.rtvi.frames import RTVIServerMessageFrame

RESERVED_FOR = 10  # seconds in which the client has to send its first request
START_TIMEOUT = 20  # seconds, from then, in which the session has to start
JOIN_TIMEOUT = 30  # seconds, from its start, in which the client has to be connected
HAND_OVER_TAKES = 20  # seconds, at most, in which a call is handed over before its session ends


@dataclass
class Session:
    """A session: reserved first, then running."""

    id: str
    max_seconds: float  # that it may run
    body: Any = None  # what came with the request for it
    address: str = ""  # that asked for it, if it is known
    is_call: bool = False  # which the bot makes or fetches itself, so that it may ring for long
    requested_at: float = field(default_factory=time.monotonic)
    expires_at: float = 0.0  # of a reservation
    has_request: bool = False  # the client has sent its first one
    connected_at: float = 0.0  # when the client connected; 0 before
    ended_because: str = "left"  # see bot_sessions_ended in metrics.py
    task: asyncio.Task[None] | None = None  # of a running one
    hand_over: Callable[[], Awaitable[bool]] | None = None  # connects a caller to somebody else

    def client_connected(self) -> None:
        self.connected_at = self.connected_at or time.monotonic()

    def cancel(self, because: str) -> None:
        """End a running session."""
        if self.task:
            self.ended_because = because
            self.task.cancel()


# The session to which the running code belongs.
current: ContextVar[Session | None] = ContextVar("session", default=None)


def nothing(*_: Any) -> None: ...


class Sessions:
    """The sessions of this process.

    Args:
        capacity: The most sessions at a time.
        per_minute: The most reservations of one address in a minute.
        on_refused: Called when a reservation is refused.
        on_started: Called with a session that starts.
        on_ended: Called with a session that has ended, and how many seconds it ran.
    """

    def __init__(
        self,
        capacity: int,
        per_minute: int = 10,
        *,
        on_refused: Callable[[], None] = nothing,
        on_started: Callable[[Session], None] = nothing,
        on_ended: Callable[[Session, float], None] = nothing,
    ):
        self.capacity, self.per_minute = capacity, per_minute
        self.on_refused, self.on_started, self.on_ended = on_refused, on_started, on_ended
        self.is_loaded, self.is_draining = True, False
        self._minute, self._in_minute = 0, collections.Counter[str]()
        self._reserved: dict[str, Session] = {}
        self._running: dict[str, Session] = {}

    def has_room(self) -> bool:
        """Whether a session could be reserved now."""
        return self.accepts() and self.count() < self.capacity

    def accepts(self) -> bool:
        """Whether this process serves sessions, even if it has no room now."""
        return self.is_loaded and not self.is_draining

    def count(self) -> int:
        """How many sessions are reserved or running."""
        self._expire()
        return len(self._reserved) + len(self._running)

    def _expire(self) -> None:
        now = time.monotonic()
        self._reserved = {id: one for id, one in self._reserved.items() if one.expires_at > now}

    def reserve(self, max_seconds: float, body: Any = None, address: str = "") -> Session:
        """Reserve a session for a client, which has RESERVED_FOR seconds to use it.

        It may then run for `max_seconds`. One address gets at most `per_minute` in a minute. Its
        unused reservations may fill at most half of the capacity, so that others can start
        sessions, too.

        Raises HTTPException 429 if the address is at that limit, and 503 if no session is free.
        """
        if (minute := int(time.monotonic() // 60)) != self._minute:
            self._minute, self._in_minute = minute, collections.Counter()
        if not self.has_room():
            raise self._refusal(503)
        if address:
            unused = sum(one.address == address for one in self._reserved.values())
            if self._in_minute[address] >= self.per_minute:
                raise self._refusal(429)
            if 2 * unused >= self.capacity:
                raise self._refusal(503)
        self._in_minute[address] += 1
        # In a cluster the ID begins with the pod's address, to which the router sends its requests.
        pod = os.getenv("POD_IP", "").replace(".", "-")
        id = f"{pod}.{uuid.uuid4()}".lstrip(".")
        session = Session(id, max_seconds, body, address)
        session.expires_at = time.monotonic() + RESERVED_FOR
        self._reserved[session.id] = session
        return session

    def _refusal(self, status: int) -> HTTPException:
        self.on_refused()
        return HTTPException(status, "no session can start here now")

    def find(self, session_id: str) -> Session | None:
        """Return the reservation that a client uses, or None if its session is running already.

        Raises HTTPException 404 if nobody reserved it within the last RESERVED_FOR seconds.
        """
        self._expire()
        if session_id in self._running:
            return None
        if session_id not in self._reserved:
            raise HTTPException(404, "there is no such session")
        session = self._reserved[session_id]
        if not session.has_request:
            session.has_request = True
            session.expires_at = time.monotonic() + START_TIMEOUT
        return session

    @contextlib.contextmanager
    def held(self, session: Session) -> Iterator[None]:
        """Give the reservation up if preparing the session fails."""
        try:
            yield
        except BaseException:
            self._reserved.pop(session.id, None)
            raise

    def start(
        self, session: Session, bot: Coroutine[Any, Any, None], is_call: bool = False
    ) -> asyncio.Task[None]:
        """Run a reserved session. It ends after JOIN_TIMEOUT if no client connects.

        A call may ring for longer. Raises HTTPException 404 if the reservation has expired.
        """
        self._expire()
        if not self._reserved.pop(session.id, None):
            bot.close()
            raise HTTPException(404, "the reservation has expired")
        task = session.task = asyncio.create_task(self._run(session, bot))
        self._running[session.id] = session
        task.add_done_callback(lambda _: self._running.pop(session.id))
        session.is_call = is_call
        if not is_call:
            task.get_loop().call_later(JOIN_TIMEOUT, self._end_if_unused, session)
        return task

    def _end_if_unused(self, session: Session) -> None:
        if not session.connected_at:
            session.cancel("nobody")

    async def _run(self, session: Session, bot: Coroutine[Any, Any, None]) -> None:
        current.set(session)
        self.on_started(session)
        began, limit = time.monotonic(), asyncio.timeout(session.max_seconds)
        try:
            with logger.contextualize(session=session.id):
                async with limit:
                    await bot
        except Exception as e:
            session.ended_because = "failed"
            if not limit.expired():
                logger.exception(f"Session {session.id} failed: {e}")
        finally:
            if limit.expired():
                session.ended_because = "time"
            self.on_ended(session, time.monotonic() - began)

    async def drain(self, seconds: float) -> None:
        """Take no more reservations, and wait for all sessions.

        After that time, hand their calls over where that is possible, and cancel the sessions.
        """
        self.is_draining = True
        logger.info(f"Stopping after the running sessions: {self.count()}")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.count():
                    await asyncio.sleep(0.2)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(HAND_OVER_TAKES):
                running = self._running.values()
                await asyncio.gather(*(one.hand_over() for one in running if one.hand_over))
        for session in self._running.values():
            session.cancel("stopped")
        while self._running:
            await asyncio.sleep(0.2)


def announce_end(
    worker: PipelineWorker,
    sentence: str = "",
    hand_over: Callable[[], Coroutine[Any, Any, bool]] | None = None,
) -> None:
    """Announce the end of a session of self_host.py, and hand its call over before it.

    Args:
        worker: Runs the pipeline of the session.
        sentence: Said a minute before the end. The page shows a message, too.
        hand_over: Connects a caller to somebody else, shortly before. Returns whether it did.
    """
    if not (session := current.get()):
        return  # bot.py serves it, without a limit
    session.hand_over = hand_over
    told = RTVIServerMessageFrame(data={"problem": "This conversation ends in a minute."})
    said = [TTSSpeakFrame(sentence, append_to_context=False)] if sentence else []

    def announce() -> None:
        worker.create_task(worker.queue_frames([told, *said]))

    loop, most = asyncio.get_running_loop(), session.max_seconds
    timers = [loop.call_later(max(0, most - 60), announce)]
    if hand_over:
        leaves_at = max(0, most - HAND_OVER_TAKES)
        timers.append(loop.call_later(leaves_at, lambda: worker.create_task(hand_over())))

    @worker.event_handler("on_pipeline_finished")
    async def on_pipeline_finished(worker, frame):
        for timer in timers:
            timer.cancel()
