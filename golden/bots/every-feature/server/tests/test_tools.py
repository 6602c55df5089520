"""Tests of tools, called as plain functions.

A tool gets what the model chose as its arguments, and answers through `params.result_callback`.
"""

from collections.abc import Awaitable, Callable
from typing import Any
from unittest.mock import AsyncMock

from pipecat.services.llm_service import FunctionCallParams


async def called(tool: Callable[..., Awaitable[None]], **arguments: Any) -> AsyncMock:
    """Call a tool as the model does. Return its `params`, which show what it did with them."""
    params = AsyncMock()
    await tool(params, **arguments)
    return params


async def opening_hours(params: FunctionCallParams, day: str) -> None:
    """Look up when the shop is open."""
    hours = "closed" if day == "Sunday" else "9:00 to 18:00"
    await params.result_callback({"day": day, "hours": hours})


async def test_a_tool_answers() -> None:
    """An example: instead of opening_hours above, import a tool of your own from bot."""
    params = await called(opening_hours, day="Sunday")
    params.result_callback.assert_awaited_once_with({"day": "Sunday", "hours": "closed"})
