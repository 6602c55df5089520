"""door.py, where the framework is: it gives out places, and takes them back.

Run in a project with what it needs: python -P doors.py
"""

import asyncio
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


def figure(name: str) -> float:
    return REGISTRY.get_sample_value(name) or 0


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
        assert door.taken() == 3 and not door.has_room() and door.ready()
        refused(503, door.reserve)
        clock.now += ARRIVE - 1
        assert door.find(first.id) is first and first.body == "a"  # came, and gets time to connect
        start(second)
        clock.now += 1
        assert door.taken() == 2 and door.has_room()  # the third never came
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
        assert not door.has_room() and door.find(second.id) is None
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
    assert door.has_room()
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


asyncio.run(main())
asyncio.run(failing())
