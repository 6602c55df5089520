"""Tools of which the model is told nothing are in the log, and healthy ones are not."""

import asyncio
from collections.abc import AsyncIterator
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from pipecat.frames import frames
from pipecat.observers.base_observer import FramePushed
from pipecat.processors.filters.identity_filter import IdentityFilter
from pipecat.processors.frame_processor import FrameDirection
from pipecat.utils.asyncio.task_manager import TaskManager

from vbot import tools
from vbot.tools import ToolMonitor

DOWN, UP = FrameDirection.DOWNSTREAM, FrameDirection.UPSTREAM


@pytest.fixture
async def monitor(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ToolMonitor]:
    monkeypatch.setattr(tools, "ANSWERS_WITHIN", 0.05)
    monitor = ToolMonitor()
    await monitor.setup(TaskManager())
    yield monitor
    await monitor.cleanup()


async def sees(monitor: ToolMonitor, *seen: frames.Frame) -> None:
    part = IdentityFilter()
    for frame in seen:
        for direction in (UP, DOWN):  # as the framework tells both sides
            pushed = FramePushed(part, part, frame, direction, 0, first_push=True)
            await monitor.on_push_frame(pushed)


def begins(call: str = "1", cancels: bool = True) -> frames.Frame:
    return frames.FunctionCallInProgressFrame("book", call, {}, cancel_on_interruption=cancels)


def answers(result: Any = "Done.", call: str = "1") -> frames.Frame:
    return frames.FunctionCallResultFrame("book", call, {}, result)


async def test_a_tool_that_does_not_answer_is_noted_once(
    monitor: ToolMonitor, log: list[str]
) -> None:
    await sees(monitor, begins(), begins("2"), answers(call="2"))
    await asyncio.sleep(0.15)
    assert log == [
        "The tool book has not answered within 0.05 s: it must call params.result_callback."
    ]


@pytest.mark.parametrize(
    "seen",
    [
        [begins(), answers()],
        [begins(), answers({"booked": True, "seats": [1, None]})],
        [begins(), frames.FunctionCallCancelFrame("book", "1")],
        [begins(cancels=False)],  # the conversation goes on while it runs
        [answers("after the limit")],
    ],
)
async def test_healthy_tools_stay_quiet(
    seen: list[frames.Frame], monitor: ToolMonitor, log: list[str]
) -> None:
    await sees(monitor, *seen)
    await asyncio.sleep(0.1)
    assert log == []


@pytest.mark.parametrize("value", [date(2030, 12, 24), Decimal("1.5"), {1, 2}])
async def test_an_answer_that_is_no_json_is_noted_with_the_tool(
    value: Any, monitor: ToolMonitor, log: list[str]
) -> None:
    await sees(monitor, begins(), answers({"value": value}))
    [line] = log
    assert line.startswith(
        f"The tool book failed: its answer is no JSON: Object of type {type(value).__name__} is not"
    )


async def test_a_session_that_ends_blames_no_tool(monitor: ToolMonitor, log: list[str]) -> None:
    await sees(monitor, begins())
    await monitor.cleanup()
    await asyncio.sleep(0.1)
    assert log == []
