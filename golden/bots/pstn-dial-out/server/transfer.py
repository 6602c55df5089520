"""Connects calls to people: when the model asks for it, and when the bot cannot go on.

With FALLBACK_NUMBER in .env, a caller is connected to that number when a service fails for good.
"""

import asyncio
import os
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from loguru import logger
from pipecat.frames.frames import DataFrame, Frame, LLMMessagesAppendFrame, TTSSpeakFrame
from pipecat.pipeline.worker import PipelineWorker
from pipecat.runner.types import RunnerArguments
from pipecat.transports.base_transport import BaseTransport
from pipecat.transports.daily.transport import DailyTransport

from call import Call, handed_over

RING_SECONDS = 25  # how long a telephone rings
SPEAKING_TAKES = 12  # seconds, at most, until the sentence before a transfer has been spoken


@dataclass
class TransferFrame(DataFrame):
    """Has the call connected to a number, after the speech that was queued before it.

    Parameters:
        number: Such as +15551234567.
        caller_id: What the telephone there shows: a number of your account. "" leaves the
            carrier's default, at most carriers the caller's number.
    """

    number: str
    caller_id: str = ""
    interruptible: bool = field(default=False, init=False)


class Transfers:
    """The transfers of one session.

    Args:
        worker: Runs the pipeline of the session.
        transport: Of the session.
        runner_args: Of the session.
        call: What webhooks.py made, if it started the session.
        connecting: Said before a caller is connected to FALLBACK_NUMBER.
    """

    def __init__(
        self,
        worker: PipelineWorker,
        transport: BaseTransport,
        runner_args: RunnerArguments,
        call: Call | None,
        *,
        connecting: str,
    ):
        self._worker, self._transport, self._runner_args = worker, transport, runner_args
        self._call = call
        self._connecting = connecting
        self._has_spoken = asyncio.Event()
        self._to_fallback: asyncio.Task[bool] | None = None
        worker.add_reached_downstream_filter((TransferFrame,))
        worker.add_event_handler("on_frame_reached_downstream", self._on_frame)

    def _is_call(self) -> bool:
        """Whether the session is a telephone call, and not somebody at a page."""
        return bool(self._call)

    @property
    def fallback(self) -> Callable[..., Coroutine[Any, Any, bool]] | None:
        """What connects the caller to FALLBACK_NUMBER; None without a number or a call."""
        has_number = "FALLBACK_NUMBER" in os.environ
        return self._take_to_fallback if has_number and self._is_call() else None

    async def _take_to_fallback(self, aloud: bool = True) -> bool:
        """Connect the caller to FALLBACK_NUMBER, once. Return False if the carrier refuses.

        Args:
            aloud: Whether the bot can still say what it does.
        """
        if not self._to_fallback:
            self._to_fallback = asyncio.create_task(self._connect_to_fallback(aloud))
        return await asyncio.shield(self._to_fallback)

    async def _connect_to_fallback(self, aloud: bool) -> bool:
        number = os.environ["FALLBACK_NUMBER"]
        if aloud:
            sentence = TTSSpeakFrame(self._connecting, append_to_context=False)
            await self._worker.queue_frames([sentence, TransferFrame(number)])
            try:
                await asyncio.wait_for(self._has_spoken.wait(), SPEAKING_TAKES)
            except TimeoutError:
                logger.warning("The sentence before the transfer was not spoken in time")
        try:
            await self._connect(number)
        except Exception as e:
            logger.error(f"The caller was not connected to FALLBACK_NUMBER: {e}")
            return False
        logger.info("The caller is being connected to FALLBACK_NUMBER")
        return True

    async def _on_frame(self, worker: PipelineWorker, frame: Frame) -> None:
        if not isinstance(frame, TransferFrame):
            return
        if self._to_fallback:
            self._has_spoken.set()
            return
        try:
            if not self._is_call():
                raise RuntimeError("this is not a telephone call")
            await self._connect(frame.number, frame.caller_id)
        except Exception as e:
            logger.error(f"The call was not put through: {e}")
            news = "Nobody can take the call. Tell the caller."
            await worker.queue_frame(
                LLMMessagesAppendFrame([{"role": "developer", "content": news}], run_llm=True)
            )

    async def _connect(self, number: str, caller_id: str = "") -> None:
        """Have the carrier connect the call. Raises RuntimeError with the carrier's answer."""
        if isinstance(self._transport, DailyTransport):
            return await transfer_at_daily(self._transport, number)


async def transfer_at_daily(transport: DailyTransport, number: str) -> None:
    """Have Daily connect the call, and leave its room open. Raises RuntimeError."""
    handed_over.add(transport.room_url)
    if error := await transport.sip_call_transfer({"toEndPoint": number}):
        handed_over.remove(transport.room_url)
        raise RuntimeError(error)
