"""What is wrong in agent.py is found before the bot starts."""

import functools
import sys
from datetime import date
from types import ModuleType
from typing import Any, Literal

import pytest
from pipecat.adapters.llm.schemas.direct_function import tool_options
from pipecat.adapters.llm.schemas.function_schema import FunctionSchema

from vbot.checks import faults_of, problems


async def book(params: object, day: str, seats: int | None, names: list[str], other: Any) -> None:
    """A tool without faults."""


@tool_options(timeout_secs=60)
async def slow(params: object) -> None: ...


class Shop:
    async def sell(self, params: object, tea: str) -> None: ...

    async def __call__(self, params: object) -> None: ...


def no_coroutine(params: object, day: str) -> None: ...


async def dated(params: object, day: date, kind: Literal["a"], more: list[date]) -> None: ...


async def nothing() -> None: ...


async def other(day: str) -> None: ...


async def unknown(params: object, day: "Unheard") -> None: ...  # noqa: F821  # pyright: ignore


SCHEMA = FunctionSchema(name="a", description="", properties={}, required=[])


@pytest.mark.parametrize("tool", [book, slow, Shop().sell, SCHEMA])
def test_healthy_tools_stay_quiet(tool: Any) -> None:
    assert faults_of(tool) == []


@pytest.mark.parametrize(
    ("tool", "faults"),
    [
        ("book", ["'book', in TOOLS of agent.py, is no function: write its name"]),
        (functools.partial(book, day="a"), ["functools.partial("]),  # which has no name
        (Shop(), ["<test_checks.Shop object"]),
        (no_coroutine, ["no_coroutine, in TOOLS of agent.py, is not async: write `async def"]),
        (nothing, ["nothing: the first argument of a tool must be `params`."]),
        (other, ["other: the first argument of a tool must be `params`."]),
        (unknown, ["unknown: the type of an argument is unknown: name 'Unheard' is not"]),
        (dated, ["dated: no model can send the argument day as date.", "dated: no model can send"]),
    ],
)
def test_tools_that_no_model_can_use_are_found(tool: Any, faults: list[str]) -> None:
    found = faults_of(tool)
    assert len(found) == len(faults)
    for fault, start in zip(found, faults, strict=True):
        assert fault.startswith(start)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({}, []),
        ({"TOOLS": (book,), "SAY_GREETING": True}, []),
        ({"SYSTEM_INSTRUCTION": " \n"}, ["SYSTEM_INSTRUCTION in agent.py is empty."]),
        ({"GREETING": ""}, ["GREETING in agent.py is empty."]),
        ({"GREETING": None}, ["GREETING in agent.py is None: it must be text."]),
        (
            {"SAY_GREETING": "nein"},
            ["SAY_GREETING in agent.py is 'nein': set True or False."],
        ),
        ({"TOOLS": book}, ["TOOLS in agent.py is no list: write TOOLS = [...]."]),
        (
            {"TOOLS": [book, no_coroutine], "GREETING": ""},
            [
                "GREETING in agent.py is empty.",
                "no_coroutine, in TOOLS of agent.py, is not async: write `async def no_coroutine`.",
            ],
        ),
    ],
)
def test_what_is_wrong_in_agent_py_is_told(
    wrong: dict[str, Any], told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = ModuleType("agent")
    healthy = {"SYSTEM_INSTRUCTION": "Be kind.", "GREETING": "Hello.", "SAY_GREETING": False}
    vars(agent).update(healthy | {"TOOLS": [book]} | wrong)
    monkeypatch.setitem(sys.modules, "agent", agent)
    assert problems() == told
