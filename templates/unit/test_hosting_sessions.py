"""The limits of sessions: how many there are, for how long, and who starts them."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import HTTPException
from pipecat.runner.types import RunnerArguments

from fakes import SENTENCES, passing
from hosting_fakes import Bot
from vbot.conversation import begins
from vbot.hosting import sessions as module
from vbot.hosting import time_limit
from vbot.hosting.sessions import (
    JOIN_TIMEOUT,
    RESERVED_FOR,
    START_TIMEOUT,
    Listener,
    Session,
    Sessions,
)

ARGUMENTS = RunnerArguments()


class Clock:
    """In place of the clock of reservations, not of asyncio."""

    now = 6000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def opened(bot: Any, capacity: int, per_minute: int = 10, **more: Any) -> Sessions:
    sessions = Sessions(bot, capacity, per_minute, **more)
    sessions.open()
    return sessions


def refused(status: int, act: Callable[..., Any], *args: Any, **options: Any) -> None:
    with pytest.raises(HTTPException) as refusal:
        act(*args, **options)
    assert refusal.value.status_code == status


async def test_a_reservation_lasts_ten_seconds_and_a_running_session_as_long_as_it_likes(
    clock: Clock,
) -> None:
    bot = Bot()
    sessions = opened(bot, 3)
    first, second, third = sessions.reserve(body="a"), sessions.reserve(), sessions.reserve()
    assert sessions.count() == 3 and not sessions.has_room() and sessions.is_open()
    refused(503, sessions.reserve)
    clock.now += RESERVED_FOR - 1
    assert sessions.find(first.id) is first and first.body == "a"  # with time to connect
    sessions.start(second, ARGUMENTS)
    clock.now += 1
    assert sessions.count() == 2  # the third never came
    refused(404, sessions.find, third.id)
    refused(404, sessions.start, third, ARGUMENTS)
    refused(404, sessions.find, "made up")

    # A client that starts a session but does not connect frees its reservation, too.
    clock.now += START_TIMEOUT - 2
    assert sessions.find(first.id) is first
    clock.now += 2
    assert sessions.count() == 1
    refused(404, sessions.start, first, ARGUMENTS)

    # A second request starts no second session.
    clock.now += 9999
    assert sessions.find(second.id) is None
    refused(404, sessions.start, second, ARGUMENTS)
    bot.over.set()
    assert second.task
    await second.task
    await asyncio.sleep(0)
    assert sessions.count() == 0 and len(bot.sessions) == 1


async def test_after_sigterm_only_reserved_sessions_begin(clock: Clock) -> None:
    bot = Bot()
    sessions = opened(bot, 3)
    running, reserved = sessions.reserve(), sessions.reserve()
    sessions.start(running, ARGUMENTS)
    draining = asyncio.create_task(sessions.drain(60))
    await asyncio.sleep(0.3)
    assert not sessions.is_open() and not draining.done()
    refused(503, sessions.reserve)
    sessions.start(reserved, ARGUMENTS)
    await asyncio.sleep(0)
    bot.over.set()
    await asyncio.wait_for(draining, 5)
    assert sessions.count() == 0 and len(bot.sessions) == 2


async def test_sessions_wait_for_what_is_loaded_first() -> None:
    sessions = Sessions(Bot(), 1)
    assert not sessions.is_open() and not sessions.has_room()
    refused(503, sessions.reserve)
    sessions.open()
    sessions.reserve()


async def test_sessions_that_do_not_end_in_time_are_transferred_and_ended() -> None:
    transferred: list[str] = []
    sessions = opened(Bot(), 2)
    call, visit = sessions.reserve(), sessions.reserve()

    async def transfer() -> bool:
        assert call.task and not call.task.done()
        transferred.append(call.id)
        return True

    for session in (call, visit):
        sessions.start(session, ARGUMENTS)
    call.transfer = transfer
    await asyncio.wait_for(sessions.drain(0.1), 5)
    assert transferred == [call.id] and sessions.count() == 0
    assert [call.ended_because, visit.ended_because] == ["stopped", "stopped"]


async def test_a_session_that_fails_is_over(log: list[str]) -> None:
    async def fails(arguments: RunnerArguments) -> None:
        raise ValueError("no")

    sessions = opened(fails, 1)
    session = sessions.reserve()
    await sessions.start(session, ARGUMENTS)
    await asyncio.sleep(0)
    assert sessions.count() == 0 and session.ended_because == "failed"
    assert any("no" in line for line in log)
    again = sessions.reserve()
    task = sessions.start(again, ARGUMENTS)
    task.cancel()  # before it began
    await asyncio.wait({task})
    await asyncio.sleep(0)
    assert sessions.count() == 0


def test_somebody_has_to_connect_unless_the_call_may_ring() -> None:
    async def wait() -> None:
        bot = Bot()
        sessions = opened(bot, 3)
        empty, joined, ringing = sessions.reserve(), sessions.reserve(), sessions.reserve()
        for session in (empty, joined):
            sessions.start(session, ARGUMENTS)
        sessions.start(ringing, ARGUMENTS, may_ring=True)
        joined.client_connected()
        await asyncio.sleep(JOIN_TIMEOUT + 1)
        assert sessions.count() == 2 and empty.ended_because == "nobody"
        bot.over.set()
        await asyncio.sleep(1)
        assert [joined.ended_because, ringing.ended_because] == ["left", "left"]

    passing(wait())


@pytest.mark.parametrize("swallows", [False, True])
def test_a_session_has_its_time(
    swallows: bool, monkeypatch: pytest.MonkeyPatch, log: list[str]
) -> None:
    monkeypatch.setenv("MAX_SESSION_SECONDS", "50")

    async def talk(arguments: RunnerArguments) -> None:
        # The framework's sessions end when they are cancelled, without the error.
        with contextlib.suppress(*[asyncio.CancelledError] if swallows else []):
            await asyncio.sleep(99)

    async def wait() -> Session:
        sessions = opened(talk, 1)
        session = sessions.reserve()
        session.client_connected()
        began = asyncio.get_running_loop().time()
        await sessions.start(session, ARGUMENTS)
        assert 50 <= asyncio.get_running_loop().time() - began < 51
        return session

    assert passing(wait()).ended_because == "time"
    assert log == []


def test_calls_are_shorter_than_visits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MAX_SESSION_SECONDS", raising=False)
    sessions = opened(Bot(), 2)
    seconds = [sessions.reserve(is_call=is_call).max_seconds for is_call in (True, False)]
    assert seconds == [900, 3600]
    monkeypatch.setenv("MAX_SESSION_SECONDS", "50")
    assert time_limit.max_seconds(True) == 50 == time_limit.max_seconds(False)


async def test_an_address_gets_its_share(clock: Clock) -> None:
    sessions = opened(Bot(), 3, per_minute=4)
    for _ in range(2):
        sessions.reserve(address="a")
    for _ in range(9):
        refused(503, sessions.reserve, address="a")  # which counts for nothing
    with contextlib.suppress(OSError), sessions.held(sessions.reserve(address="b")):
        raise OSError  # there is room for others, and then it is free again
    clock.now += RESERVED_FOR
    for _ in range(2):
        sessions.reserve(address="a")
    clock.now += RESERVED_FOR
    refused(429, sessions.reserve, address="a")
    sessions.capacity = 99
    for _ in range(9):
        with sessions.held(sessions.reserve()):  # a call, from no address that is known
            pass
    clock.now = 6060.0
    sessions.reserve(address="a")


def test_in_a_cluster_an_id_names_the_pod(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POD_IP", raising=False)
    assert "." not in opened(Bot(), 1).reserve().id
    monkeypatch.setenv("POD_IP", "10.1.2.3")
    assert opened(Bot(), 1).reserve().id.startswith("10-1-2-3.")


class Worker:
    """Notes what is queued, and when."""

    def __init__(self) -> None:
        self.queued: list[tuple[float, str]] = []
        self.handlers: dict[str, Any] = {}

    def create_task(self, doing: Coroutine[Any, Any, Any]) -> None:
        self.task = asyncio.get_running_loop().create_task(doing)

    async def queue_frames(self, frames: list[Any]) -> None:
        now = asyncio.get_running_loop().time() - self.began
        self.queued += [(round(now), getattr(f, "text", None) or f.data["problem"]) for f in frames]

    def event_handler(self, name: str) -> Any:
        return lambda handler: self.handlers.setdefault(name, handler)

    def conversation(self, has_voice: bool, fallback: Any) -> Any:
        self.began = asyncio.get_running_loop().time()
        return SimpleNamespace(
            worker=self,
            has_voice=has_voice,
            sentences=SENTENCES,
            transfers=SimpleNamespace(fallback=fallback),
            ending=SimpleNamespace(host_says=str),
        )


@pytest.mark.parametrize("has_voice", [True, False])
@pytest.mark.parametrize("is_call", [True, False])
def test_the_end_is_announced_a_minute_before(
    has_voice: bool, is_call: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call is transferred twenty seconds before it. If the person leaves, nothing happens."""
    monkeypatch.setenv("MAX_SESSION_SECONDS", "100")

    async def talk(leaves: bool) -> tuple[Session, Worker]:
        worker = Worker()

        async def fallback() -> bool:
            await worker.queue_frames([SimpleNamespace(text="transferred")])
            return True

        async def bot(arguments: RunnerArguments) -> None:
            begin = begins.get()
            assert begin
            begin(worker.conversation(has_voice, fallback if is_call else None))
            if leaves:
                await worker.handlers["on_pipeline_finished"](worker, None)
            await asyncio.sleep(99)

        sessions = opened(bot, 1)
        session = sessions.reserve(is_call=is_call)
        session.client_connected()
        await sessions.start(session, ARGUMENTS)
        assert bool(session.transfer) == is_call
        return session, worker

    said = [(40, "This conversation ends in a minute.")]
    said += [(40, SENTENCES.last_minute)] if has_voice else []
    said += [(80, "transferred")] if is_call else []
    assert passing(talk(leaves=False))[1].queued == said
    assert passing(talk(leaves=True))[1].queued == []


async def test_a_listener_is_told() -> None:
    told: list[Any] = []

    class Told(Listener):
        def on_refused(self) -> None:
            told.append("refused")

        def on_started(self, session: Session) -> None:
            told.append(("started", session.id))

        def on_ended(self, session: Session, seconds: float) -> None:
            told.append(("ended", session.id, session.ended_because))

    bot = Bot()
    bot.over.set()
    sessions = opened(bot, 1, listener=Told())
    session = sessions.reserve()
    refused(503, sessions.reserve)
    await sessions.start(session, ARGUMENTS)
    assert told == ["refused", ("started", session.id), ("ended", session.id, "left")]


@pytest.mark.parametrize("fails", [False, True])
def test_no_timer_keeps_a_session_that_is_over(fails: bool) -> None:
    """Nor its pipeline, even if that was built but never ran."""

    async def visit() -> None:
        async def bot(arguments: RunnerArguments) -> None:
            begin = begins.get()
            assert begin
            begin(Worker().conversation(has_voice=True, fallback=None))
            assert not any(timer.cancelled() for timer in session.timers)
            if fails:
                raise ValueError

        sessions = opened(bot, 1)
        session = sessions.reserve()
        await sessions.start(session, ARGUMENTS)
        assert len(session.timers) == 2 and all(timer.cancelled() for timer in session.timers)

    passing(visit())


@pytest.mark.parametrize(
    ("capacity", "per_address", "share"),
    [(1, 0, 1), (2, 0, 1), (3, 0, 2), (4, 0, 2), (10, 0, 5), (4, 1, 1), (4, 4, 4)],
)
async def test_an_address_has_a_share_of_the_sessions(
    capacity: int, per_address: int, share: int
) -> None:
    bot = Bot()
    sessions = opened(bot, capacity, per_minute=100, per_address=per_address)
    running = [
        sessions.start(sessions.reserve(address="home"), ARGUMENTS) for _ in range(share)
    ]  # a family, for example
    refused(503, sessions.reserve, address="home")
    others = [sessions.reserve(is_call=True) for _ in range(capacity - share)]  # a carrier
    assert sessions.count() == capacity
    for other in others:
        sessions.give_back(other)
    bot.over.set()
    await asyncio.gather(*running)
    await asyncio.sleep(0)
    sessions.reserve(address="home")  # the next one


async def test_a_page_may_be_loaded_again_and_again() -> None:
    bot = Bot()
    sessions = opened(bot, 4)
    for _ in range(4):
        task = sessions.start(sessions.reserve(address="home"), ARGUMENTS)
        bot.over.set()
        await task
        bot.over.clear()
    assert sessions.count() <= 1


def test_what_is_given_back_is_free_at_once() -> None:
    sessions = opened(Bot(), 1)
    session = sessions.reserve(address="home")
    sessions.give_back(session)
    sessions.give_back(session)
    assert sessions.has_room() and sessions.reserve(address="home")
