"""A clock that a test sets: what vbot.facts.now() says, to the bot and to tools that tests call."""

import os
import tempfile
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import vbot.facts

VARIABLE = "CLOCK_OF_TESTS"  # has the name of a file, with the time or with nothing
actual = vbot.facts.now


class Clock:
    """`clock.set("2030-12-23 10:00")`, until the test ends. The time is one in TIME_ZONE."""

    def __init__(self) -> None:
        folder = Path(tempfile.mkdtemp(prefix="vbot-tests-"))
        self._file = folder / "clock"
        os.environ[VARIABLE] = str(self._file)
        self.reset()

    def set(self, time: str) -> None:
        datetime.fromisoformat(time)  # raises an error if it is none
        self._file.write_text(time)

    def reset(self) -> None:
        self._file.write_text("")

    def remove(self) -> None:
        self._file.unlink(missing_ok=True)
        self._file.parent.rmdir()


def now() -> datetime:
    """Return the time that the test has set, or else the actual time."""
    text = Path(os.environ[VARIABLE]).read_text()
    if not text:
        return actual()
    zone = os.getenv("TIME_ZONE")
    time = datetime.fromisoformat(text)
    return time.replace(tzinfo=ZoneInfo(zone)) if zone else time.astimezone()


def tell_time_of_test() -> None:
    """Have whoever asks vbot.facts for the time from now on be told that of the test."""
    vbot.facts.now = now
