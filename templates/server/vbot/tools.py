"""Logs which tools leave a caller in silence: those that do not answer, or not in JSON."""

import asyncio
import json
from typing import Any

from loguru import logger
from pipecat.frames.frames import (
    FunctionCallCancelFrame,
    FunctionCallInProgressFrame,
    FunctionCallResultFrame,
)
from pipecat.observers.base_observer import BaseObserver, FramePushed
from pipecat.processors.frame_processor import FrameDirection

ANSWERS_WITHIN = 12.0  # seconds, unless the conversation goes on while the tool runs


def fault_of_answer(name: str, answer: Any) -> str:
    """Return why no model can be told the answer of a tool, or ""."""
    try:
        json.dumps(answer)
    except (TypeError, ValueError) as error:
        return f"The tool {name} failed: its answer is no JSON: {error}"
    return ""


class ToolMonitor(BaseObserver):
    """Follows the calls of tools in a session."""

    def __init__(self):
        super().__init__()
        self._waits: dict[str, asyncio.Task[None]] = {}  # by the ids of calls

    async def on_push_frame(self, data: FramePushed):
        if not data.first_push or data.direction is not FrameDirection.DOWNSTREAM:
            return
        match data.frame:
            case FunctionCallInProgressFrame(function_name=name, tool_call_id=call):
                logger.debug(f"Tool {name} runs: {call}")
                if data.frame.cancel_on_interruption:
                    self._waits[call] = self.create_task(self._wait(name))
            case FunctionCallResultFrame(function_name=name, tool_call_id=call, result=answer):
                await self._end_wait(call)
                logger.debug(f"Tool {name} has answered: {call}")
                if fault := fault_of_answer(name, answer):
                    logger.error(fault)
            case FunctionCallCancelFrame(function_name=name, tool_call_id=call):
                await self._end_wait(call)
                logger.debug(f"Tool {name} was cancelled: {call}")
            case _:
                pass

    async def cleanup(self):
        for call in list(self._waits):
            await self._end_wait(call)
        await super().cleanup()

    async def _wait(self, name: str) -> None:
        await asyncio.sleep(ANSWERS_WITHIN)
        logger.warning(
            f"The tool {name} has not answered within {ANSWERS_WITHIN:g} s: it must call "
            "params.result_callback."
        )

    async def _end_wait(self, call: str) -> None:
        if wait := self._waits.pop(call, None):
            await self.cancel_task(wait)
