"""door.py, where the framework is: it gives out places, and takes them back.

Run in a project with what it needs: python -P doors.py
"""

import asyncio
import contextlib
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from door import ARRIVE, CONNECT, Door, Place
from fastapi import HTTPException
from prometheus_client import REGISTRY


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


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
    door, clock = Door(3), Clock()
    over = asyncio.Event()
    ran: list[str] = []

    async def session(name: str = "") -> None:
        ran.append(name)
        await over.wait()

    def start(place: Place) -> None:
        door.start(place, session())

    with patch("door.time", SimpleNamespace(monotonic=clock)):  # not the clock of asyncio
        # A place is kept for whoever asked, for ten seconds.
        first, second, third = door.reserve("a"), door.reserve(), door.reserve()
        assert door.taken() == 3 and door.ready()
        refused(503, door.reserve)
        clock.now += ARRIVE - 1
        assert door.find(first.id) is first and first.body == "a"  # came, and gets time to connect
        start(second)
        clock.now += 1
        assert door.taken() == 2  # the third never came
        refused(404, door.find, third.id)
        refused(404, start, third)  # too late, whether or not there is room
        refused(404, door.find, "made up")

        # Who came but does not connect frees the place, too, however often they ask.
        clock.now += CONNECT - 2
        assert door.find(first.id) is first
        clock.now += 2
        assert door.taken() == 1
        refused(404, start, first)

        # A running session keeps its place for ever, and its own requests need none.
        clock.now += 9999
        fourth, fifth = door.reserve(), door.reserve()
        assert door.taken() == 3 and door.find(second.id) is None
        refused(404, start, second)  # a second offer starts no second session
        start(fourth)

        # No session begins after the bot was told to stop but those that were asked for.
        draining = asyncio.create_task(door.drain(60))
        await asyncio.sleep(0.3)
        assert not door.ready() and not draining.done()
        refused(503, door.reserve)
        assert door.find(fifth.id) is fifth
        start(fifth)
        await asyncio.sleep(0)
        assert figure("bot_sessions") == 3 == figure("bot_sessions_max")
        over.set()
        await asyncio.wait_for(draining, 5)
        assert door.taken() == 0 and len(ran) == 3
    assert figure("bot_sessions_started_total") == 3 and figure("bot_sessions_refused_total") == 2


async def failing() -> None:
    """A session that fails frees its place; one that goes on is ended."""
    door = Door(1)

    async def fails() -> None:
        raise ValueError("no")

    await door.start(door.reserve(), fails())
    await asyncio.sleep(0)
    assert door.taken() == 0
    task = door.start(door.reserve(), asyncio.sleep(99))
    await asyncio.wait_for(door.drain(0.1), 5)
    assert task.cancelled() and door.taken() == 0
    door.stopping = False
    task = door.start(door.reserve(), asyncio.sleep(99))
    task.cancel()  # before it began
    await asyncio.wait({task})
    await asyncio.sleep(0)
    assert door.taken() == 0

    # Nobody comes; somebody does; a call rings.
    door.places = 3
    with patch("door.JOIN", 0.1):
        empty, joined, ringing = door.reserve(), door.reserve(), door.reserve()
        nobody = door.start(empty, asyncio.sleep(99))
        rest = [door.start(joined, asyncio.sleep(99)), door.start(ringing, asyncio.sleep(99), True)]
        joined.joined = True
        await asyncio.sleep(0.3)
        assert nobody.cancelled() and not any(task.done() for task in rest) and door.taken() == 2
        for task in rest:
            task.cancel()


async def sharing() -> None:
    """An address gets its share of places in a minute, however often it asks."""
    door, clock = Door(3, 4), Clock()
    with patch("door.time", SimpleNamespace(monotonic=clock)):
        clock.now = 6000.0
        door.reserve(address="a"), door.reserve(address="a")
        for _ in range(9):
            refused(503, door.reserve, None, "a")  # which counts for nothing
        with contextlib.suppress(OSError), door.kept(door.reserve(address="b")):
            raise OSError  # there is always a place for others, and then it is free again
        clock.now += ARRIVE
        door.reserve(address="a"), door.reserve(address="a")
        clock.now += ARRIVE
        refused(429, door.reserve, None, "a")
        for _ in range(9):
            door.places = 99
            with door.kept(door.reserve()):  # a call, from no address that is known
                pass
        clock.now = 6060.0
        door.reserve(address="a")


async def counting() -> None:
    """How long sessions last and why they end, and how long people wait for an answer."""
    door = Door(5)

    def ended(why: str) -> float:
        return figure("bot_sessions_ended_total", why=why)

    def says(place: Place, **extra: Any) -> None:
        door.count(SimpleNamespace(record={"extra": {"session": place.id} | extra}))

    before = {why: ended(why) for why in ("left", "service", "time", "nobody", "stopped", "failed")}
    over = asyncio.Event()
    first, second, third = door.reserve(), door.reserve(), door.reserve()
    tasks = [door.start(first, over.wait()), door.start(second, over.wait())]
    says(first, event="BotStartedSpeakingFrame")
    says(first, event="VADUserStoppedSpeakingFrame")
    await asyncio.sleep(0.1)
    says(first, event="BotStartedSpeakingFrame")
    says(first, event="BotStartedSpeakingFrame")  # goes on after a pause
    says(second, service="OpenAI")
    says(Place("unknown", None), event="BotStartedSpeakingFrame")
    over.set()
    await asyncio.gather(*tasks)

    async def ends_when_cancelled() -> None:  # as the framework's sessions do
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(99)

    with patch("door.LONGEST", 0.1):
        await door.start(third, ends_when_cancelled())
        await door.start(door.reserve(), asyncio.sleep(99))
    assert figure("bot_turn_seconds_count") == 1 and figure("bot_turn_seconds_sum") >= 0.1
    assert figure("bot_first_word_seconds_count") == 1
    assert figure("bot_service_failures_total", service="OpenAI") == 1
    assert [ended(why) - before[why] for why in ("left", "service", "time")] == [1, 1, 2]
    assert before["nobody"] == 1 and before["failed"] == 1 and before["stopped"] == 1


asyncio.run(main())
asyncio.run(failing())
asyncio.run(sharing())
asyncio.run(counting())
