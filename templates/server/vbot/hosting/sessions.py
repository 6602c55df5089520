"""Limits the sessions of this process: how many run at a time, for how long, and who starts them.

A client reserves a session, connects to it within seconds, and keeps it until it ends.
"""

import asyncio
import collections
import contextlib
import os
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from fastapi import HTTPException
from loguru import logger
from pipecat.runner.types import RunnerArguments

from vbot import records
from vbot.conversation import Conversation, begins
from vbot.hosting.time_limit import TRANSFER_TAKES, announce_end, max_seconds
from vbot.presence import attended

RESERVED_FOR = 10  # seconds in which the client has to send its first request
START_TIMEOUT = 20  # seconds, from then, in which the session has to start
JOIN_TIMEOUT = 30  # seconds, from its start, in which the client has to be connected

Bot = Callable[[RunnerArguments], Awaitable[None]]


@dataclass
class Session:
    """A session: reserved first, then running."""

    id: str
    max_seconds: float  # that it may run
    body: Any = None  # what came with the request for it
    address: str = ""  # that asked for it, if it is known
    may_ring: bool = False  # a call that the bot makes or fetches, which may take long
    requested_at: float = field(default_factory=time.monotonic)
    expires_at: float = 0.0  # of a reservation
    has_request: bool = False  # the client has sent its first one
    connected_at: float = 0.0  # when the client connected; 0 before
    ended_because: str = "left"  # see bot_sessions_ended in metrics.py
    task: asyncio.Task[None] | None = None  # of a running one
    transfer: Callable[[], Awaitable[bool]] | None = None  # connects a caller to somebody else
    timers: list[asyncio.TimerHandle] = field(default_factory=list)  # of a running one

    def client_connected(self) -> None:
        self.connected_at = self.connected_at or time.monotonic()

    def service_failed(self) -> None:
        self.ended_because = "service"  # if the person leaves from now on

    def client_left(self) -> None:
        """End a running session that goes on without its person."""
        self.cancel(self.ended_because)

    def cancel_timers(self) -> None:
        """Let go of what keeps the pipeline in memory after the session."""
        for timer in self.timers:
            timer.cancel()

    def cancel(self, because: str) -> None:
        """End a running session."""
        if self.task:
            self.ended_because = because
            self.task.cancel()


class Listener:
    """Is told what happens to sessions. metrics.py makes figures of it."""

    def on_refused(self) -> None:
        """A reservation was refused."""

    def on_started(self, session: Session) -> None:
        """A session starts."""

    def on_conversation(self, session: Session, conversation: Conversation) -> None:
        """Its conversation begins: the pipeline is built."""

    def on_ended(self, session: Session, seconds: float) -> None:
        """A session has ended after so many seconds."""


class Sessions:
    """The sessions of this process. It takes none before `open`.

    Args:
        bot: Serves one session.
        capacity: The most sessions at a time.
        per_minute: The most reservations of one address in a minute.
        per_address: The most sessions of one address at a time. 0 is half of them, rounded up.
        listener: Is told what happens.
    """

    def __init__(
        self,
        bot: Bot,
        capacity: int,
        per_minute: int = 10,
        listener: Listener | None = None,
        per_address: int = 0,
    ):
        self.capacity = capacity
        self._bot, self._per_minute = bot, per_minute
        self._per_address = per_address or (capacity + 1) // 2
        self._listener = listener or Listener()
        self._is_open = False
        self._minute, self._in_minute = 0, collections.Counter[str]()
        self._reserved: dict[str, Session] = {}
        self._running: dict[str, Session] = {}

    def open(self) -> None:
        """Take reservations from now on."""
        self._is_open = True

    def is_open(self) -> bool:
        """Whether this process serves new sessions, even if it has no room now."""
        return self._is_open

    def has_room(self) -> bool:
        """Whether a session could be reserved now."""
        return self._is_open and self.count() < self.capacity

    def count(self) -> int:
        """How many sessions are reserved or running."""
        self._expire()
        return len(self._reserved) + len(self._running)

    def _expire(self) -> None:
        now = time.monotonic()
        self._reserved = {id: one for id, one in self._reserved.items() if one.expires_at > now}

    def reserve(self, is_call: bool = False, body: Any = None, address: str = "") -> Session:
        """Reserve a session for a client, which has RESERVED_FOR seconds to use it.

        One address gets at most `per_minute` in a minute, and has at most `per_address` at a time.
        Its unused reservations may fill at most half of the capacity, so that others can start
        sessions, too. Without an address, as for calls of carriers, there are no such limits.

        Raises HTTPException 429 if the address has had its minute's, and 503 if it has no session
        free.
        """
        if (minute := int(time.monotonic() // 60)) != self._minute:
            self._minute, self._in_minute = minute, collections.Counter()
        if not self.has_room():
            raise self.refusal(503)
        if address:
            unused = sum(one.address == address for one in self._reserved.values())
            if self._in_minute[address] >= self._per_minute:
                raise self.refusal(429)
            running = sum(one.address == address for one in self._running.values())
            if 2 * unused >= self.capacity or unused + running >= self._per_address:
                raise self.refusal(503)
        self._in_minute[address] += 1
        # In a cluster the ID begins with the pod's address, to which the router sends its requests.
        pod = os.getenv("POD_IP", "").replace(".", "-")
        id = f"{pod}.{uuid.uuid4()}".lstrip(".")
        session = Session(id, max_seconds(is_call), body, address)
        session.expires_at = time.monotonic() + RESERVED_FOR
        self._reserved[session.id] = session
        return session

    def refusal(self, status: int) -> HTTPException:
        """Count a refused reservation, and return the error for it."""
        self._listener.on_refused()
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

    def give_back(self, session: Session) -> None:
        """Give a reservation up, so that others can have the session."""
        self._reserved.pop(session.id, None)

    @contextlib.contextmanager
    def held(self, session: Session) -> Iterator[None]:
        """Give the reservation up if preparing the session fails."""
        try:
            yield
        except BaseException:
            self.give_back(session)
            raise

    def start(
        self, session: Session, arguments: RunnerArguments, may_ring: bool = False
    ) -> asyncio.Task[None]:
        """Run a reserved session. It ends after JOIN_TIMEOUT if no client connects.

        A call may ring for longer. Raises HTTPException 404 if the reservation has expired.
        """
        self._expire()
        if not self._reserved.pop(session.id, None):
            raise HTTPException(404, "the reservation has expired")
        task = session.task = asyncio.create_task(self._run(session, arguments))
        self._running[session.id] = session
        task.add_done_callback(lambda _: self._running.pop(session.id))
        session.may_ring = may_ring
        if not may_ring:
            timer = task.get_loop().call_later(JOIN_TIMEOUT, self._end_if_unused, session)
            session.timers.append(timer)
        return task

    def _end_if_unused(self, session: Session) -> None:
        if not session.connected_at:
            session.cancel("nobody")

    async def _run(self, session: Session, arguments: RunnerArguments) -> None:
        began, limit = time.monotonic(), asyncio.timeout(session.max_seconds)
        begins.set(partial(self._begin, session, limit))
        self._listener.on_started(session)
        try:
            with logger.contextualize(session=session.id):
                async with limit, attended(arguments, session.client_left):
                    await self._bot(arguments)
        except Exception as e:
            session.ended_because = "failed"
            if not limit.expired():
                logger.exception(f"Session {session.id} failed: {e}")
        finally:
            if limit.expired():  # which the bot may take as the end, without an exception
                session.ended_because = "time"
            records.host_says(session.ended_because)
            self._listener.on_ended(session, time.monotonic() - began)
            session.cancel_timers()

    def _begin(self, session: Session, limit: asyncio.Timeout, conversation: Conversation) -> None:
        conversation.ending.host_says = lambda: "time" if limit.expired() else ""
        session.transfer = conversation.transfers.fallback
        session.timers += announce_end(conversation, session.max_seconds)
        self._listener.on_conversation(session, conversation)

    async def drain(self, seconds: float) -> None:
        """Take no more reservations, and wait for all sessions.

        After that time, transfer their calls where that is possible, and cancel the sessions.
        """
        self._is_open = False
        logger.info(f"Stopping after the running sessions: {self.count()}")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.count():
                    await asyncio.sleep(0.2)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(TRANSFER_TAKES):
                running = self._running.values()
                await asyncio.gather(*(one.transfer() for one in running if one.transfer))
        for session in self._running.values():
            session.cancel("stopped")
        while self._running:
            await asyncio.sleep(0.2)
