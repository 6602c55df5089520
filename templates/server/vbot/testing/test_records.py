"""A session leaves a record of what happened.

An example of a test of your own tool, through the whole bot: it books a table.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from vbot.records.folder import Folder, now
from vbot.testing import Bot, Services, Tester
from vbot.testing.fixtures import program

# bot.py with a tool that agent.py does not have.
BOOKING_BOT = '''
import runpy

from pipecat.services.llm_service import FunctionCallParams

import agent


async def book(params: FunctionCallParams, seats: int):
    """Book a table."""
    await params.result_callback({"table": 7})


agent.TOOLS.append(book)
runpy.run_path("bot.py", run_name="__main__")
'''


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "records")


@pytest.fixture
async def booking_bot(services: Services, folder: Folder, tmp_path: Path) -> AsyncIterator[Bot]:
    file = tmp_path / "booking_bot.py"
    file.write_text(BOOKING_BOT)
    env = {"RECORDS": str(folder.path), "RECORDS_TEXT": "true"}
    async with program(str(file), "PORT/status", services, tmp_path, **env) as bot:
        yield bot


async def the_record(folder: Folder) -> dict[str, Any]:
    """Return the only record, once it is written."""
    async with asyncio.timeout(20):
        while not (found := folder.read(now().date().min, now().date())):
            await asyncio.sleep(0.05)
    [record] = found
    return record


async def test_a_booking_is_recorded(booking_bot: Bot, services: Services, folder: Folder) -> None:
    script = services.script
    script.when("A table, please.", "It is booked.", call="book", arguments={"seats": 2})
    async with Tester.connected(booking_bot, script) as tester:
        await tester.hears(script.greeting)
        await tester.speaks("A table, please.")
        await tester.hears("It is booked.")
    record = await the_record(folder)
    assert record["ended_by"] == "person" and record["problems"] == []
    [tool] = record["tools"]
    assert (tool["name"], tool["succeeded"]) == ("book", True)
    assert (tool["arguments"], tool["result"]) == ({"seats": 2}, {"table": 7})
    said = [turn["text"] for turn in record["turns"] if turn["who"] == "bot"]
    assert said[-1] == "It is booked."
