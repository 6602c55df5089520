"""What is wrong in agent.py, so that a bot does not start, or no call works."""

import inspect
import types
import typing
from typing import Any

from pipecat.adapters.llm.schemas.function_schema import FunctionSchema

# What a model can send as the value of an argument, beside lists and dictionaries of these.
VALUES = (str, int, float, bool, list, dict, type(None), Any)


def problems() -> list[str]:
    """Return what is wrong, a sentence each."""
    import agent

    found: list[str] = []
    for name in ("SYSTEM_INSTRUCTION", "GREETING"):
        text: object = getattr(agent, name)
        if not isinstance(text, str):
            found.append(f"{name} in agent.py is {text!r}: it must be text.")
        elif not text.strip():
            found.append(f"{name} in agent.py is empty.")
    says: object = agent.SAY_GREETING
    if not isinstance(says, bool):
        found.append(f"SAY_GREETING in agent.py is {says!r}: set True or False.")
    tools: object = agent.TOOLS
    if not isinstance(tools, list | tuple):
        return [*found, "TOOLS in agent.py is no list: write TOOLS = [...]."]
    listed: list[Any] = [*tools]
    return found + [fault for tool in listed for fault in faults_of(tool)]


def faults_of(tool: Any) -> list[str]:
    """Return what is wrong with a tool, so that no call works or the tool gets text."""
    if isinstance(tool, FunctionSchema):
        return []  # which describes itself
    name = getattr(tool, "__name__", "")
    if not callable(tool) or not name:
        return [f"{tool!r}, in TOOLS of agent.py, is no function: write its name, without quotes."]
    if not inspect.iscoroutinefunction(tool):
        return [f"{name}, in TOOLS of agent.py, is not async: write `async def {name}`."]
    names = [*inspect.signature(tool).parameters]
    if names[:1] != ["params"]:
        return [f"{name}: the first argument of a tool must be `params`."]
    try:
        hints = typing.get_type_hints(tool)
    except NameError as error:
        return [f"{name}: the type of an argument is unknown: {error}."]
    return [
        f"{name}: no model can send the argument {argument} as {named(hints[argument])}. "
        "Use str, int, float, bool, list or dict."
        for argument in names[1:]
        if not can_be_sent(hints.get(argument, Any))
    ]


def named(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)


def can_be_sent(hint: Any) -> bool:
    """Whether a model can send a value of this type."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (list, dict, typing.Union, types.UnionType):
        return all(map(can_be_sent, parts))
    return hint in VALUES or origin is typing.Literal or typing.is_typeddict(hint)
