"""Tests of sessions.py and metrics.py, to be run with the framework installed.

Run in a project with what it needs: python -P limited.py
"""

import asyncio
import contextlib
import contextvars
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import metrics
import monitor
import sessions
from fastapi import HTTPException
from pipecat.frames import frames
from pipecat.observers.base_observer import FramePushed
from pipecat.processors.frame_processor import FrameDirection
from prometheus_client import REGISTRY
from sessions import RESERVED_FOR, START_TIMEOUT, Session, Sessions


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def measured(capacity: int, per_minute: int = 10) -> Sessions:
    limits = Sessions(capacity, per_minute)
    metrics.count_sessions(limits)
    return limits


def refused(status: int, act: Any, *args: Any) -> None:
    try:
        act(*args)
    except HTTPException as e:
        assert e.status_code == status, e
    else:
        raise AssertionError("it was not refused")


def figure(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0


async def main() -> None:
    limits, clock = measured(3), Clock()
    over = asyncio.Event()
    ran: list[str] = []

    async def session(name: str = "") -> None:
        ran.append(name)
        await over.wait()

    def start(place: Session) -> None:
        limits.start(place, session())

    with patch("sessions.time", SimpleNamespace(monotonic=clock)):  # not the clock of asyncio
        # A reservation lasts ten seconds.
        first, second, third = limits.reserve(99, "a"), limits.reserve(99), limits.reserve(99)
        assert limits.count() == 3 and limits.accepts()
        refused(503, limits.reserve, 99)
        clock.now += RESERVED_FOR - 1
        assert limits.find(first.id) is first and first.body == "a"  # with time to connect
        start(second)
        clock.now += 1
        assert limits.count() == 2  # the third never came
        refused(404, limits.find, third.id)
        refused(404, start, third)  # too late, whether or not there is room
        refused(404, limits.find, "made up")

        # A client that starts a session but does not connect frees its reservation, too.
        clock.now += START_TIMEOUT - 2
        assert limits.find(first.id) is first
        clock.now += 2
        assert limits.count() == 1
        refused(404, start, first)

        # A running session keeps its reservation, and its own requests need none.
        clock.now += 9999
        fourth, fifth = limits.reserve(99), limits.reserve(99)
        assert limits.count() == 3 and limits.find(second.id) is None
        refused(404, start, second)  # a second offer starts no second session
        start(fourth)

        # After the bot is told to stop, only sessions that are already reserved begin.
        draining = asyncio.create_task(limits.drain(60))
        await asyncio.sleep(0.3)
        assert not limits.accepts() and not draining.done()
        refused(503, limits.reserve, 99)
        assert limits.find(fifth.id) is fifth
        start(fifth)
        await asyncio.sleep(0)
        assert figure("bot_sessions") == 3 == figure("bot_sessions_max")
        over.set()
        await asyncio.wait_for(draining, 5)
        assert limits.count() == 0 and len(ran) == 3
    assert figure("bot_sessions_started_total") == 3 and figure("bot_sessions_refused_total") == 2


async def failing() -> None:
    """A session that fails frees its reservation; one that does not end is ended."""
    limits = measured(1)

    async def fails() -> None:
        raise ValueError("no")

    await limits.start(limits.reserve(99), fails())
    await asyncio.sleep(0)
    assert limits.count() == 0
    task = limits.start(limits.reserve(99), asyncio.sleep(99))
    await asyncio.wait_for(limits.drain(0.1), 5)
    assert task.cancelled() and limits.count() == 0
    limits.is_draining = False
    task = limits.start(limits.reserve(99), asyncio.sleep(99))
    task.cancel()  # before it began
    await asyncio.wait({task})
    await asyncio.sleep(0)
    assert limits.count() == 0

    # Nobody comes; somebody does; a call rings.
    limits.capacity = 3
    with patch("sessions.JOIN_TIMEOUT", 0.1):
        empty, joined, ringing = limits.reserve(99), limits.reserve(99), limits.reserve(99)
        nobody = limits.start(empty, asyncio.sleep(99))
        connected = limits.start(joined, asyncio.sleep(99))
        rest = [connected, limits.start(ringing, asyncio.sleep(99), is_call=True)]
        joined.client_connected()
        await asyncio.sleep(0.3)
        assert nobody.cancelled() and not any(task.done() for task in rest) and limits.count() == 2
        for task in rest:
            task.cancel()


async def sharing() -> None:
    """An address gets only its share of reservations in a minute, however often it asks."""
    limits, clock = measured(3, 4), Clock()
    with patch("sessions.time", SimpleNamespace(monotonic=clock)):
        clock.now = 6000.0
        limits.reserve(99, address="a"), limits.reserve(99, address="a")
        for _ in range(9):
            refused(503, limits.reserve, 99, None, "a")  # which counts for nothing
        with contextlib.suppress(OSError), limits.held(limits.reserve(99, address="b")):
            raise OSError  # there is always a place for others, and then it is free again
        clock.now += RESERVED_FOR
        limits.reserve(99, address="a"), limits.reserve(99, address="a")
        clock.now += RESERVED_FOR
        refused(429, limits.reserve, 99, None, "a")
        for _ in range(9):
            limits.capacity = 99
            with limits.held(limits.reserve(99)):  # a call, from no address that is known
                pass
        clock.now = 6060.0
        limits.reserve(99, address="a")


async def counting() -> None:
    """How long sessions last and why they end, and how long people wait for an answer."""
    limits = measured(5)

    def ended(why: str) -> float:
        return figure("bot_sessions_ended_total", why=why)

    async def sees(times: metrics.AnswerTimes, *made: type[frames.Frame]) -> None:
        for frame in made:
            down, source = FrameDirection.DOWNSTREAM, SimpleNamespace()
            await times.on_push_frame(FramePushed(source, source, frame(), down, 0))  # type: ignore

    before = {why: ended(why) for why in ("left", "service", "time", "nobody", "stopped", "failed")}
    over = asyncio.Event()
    first, second, third = limits.reserve(99), limits.reserve(99), limits.reserve(99)
    tasks = [limits.start(first, over.wait()), limits.start(second, over.wait())]
    times = metrics.AnswerTimes(first)
    speaks, stops = frames.BotStartedSpeakingFrame, frames.VADUserStoppedSpeakingFrame
    await sees(times, frames.ClientConnectedFrame, speaks, stops)
    assert first.connected_at
    await asyncio.sleep(0.1)
    await sees(times, speaks, speaks)  # goes on after a pause
    service = monitor.Service("OpenAI", "OPENAI_API_KEY")
    inside = contextvars.copy_context()
    inside.run(sessions.current.set, second)
    inside.run(metrics.count_failure, None, service, "OpenAI failed")  # type: ignore
    metrics.count_failure(None, service, "OpenAI failed")  # type: ignore[arg-type]
    metrics.count_delay(None, service, "OpenAI is late")  # type: ignore[arg-type]
    over.set()
    await asyncio.gather(*tasks)

    async def ends_when_cancelled() -> None:  # as the framework's sessions do
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(99)

    last = limits.reserve(99)
    third.max_seconds = last.max_seconds = 0.1
    await limits.start(third, ends_when_cancelled())
    await limits.start(last, asyncio.sleep(99))
    assert figure("bot_turn_seconds_count") == 1 and figure("bot_turn_seconds_sum") >= 0.1
    assert figure("bot_first_word_seconds_count") == 1
    assert figure("bot_service_failures_total", service="OpenAI") == 2
    assert figure("bot_service_delays_total", service="OpenAI") == 1
    assert [ended(why) - before[why] for why in ("left", "service", "time")] == [1, 1, 2]
    assert before["nobody"] == 1 and before["failed"] == 1 and before["stopped"] == 1


asyncio.run(main())
asyncio.run(failing())
asyncio.run(sharing())
asyncio.run(counting())
