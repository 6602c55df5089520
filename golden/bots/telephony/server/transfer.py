"""Connects calls to people: when the model asks for it, and when the bot cannot go on.

With FALLBACK_NUMBER in .env, a caller is connected to that number when a service fails for good,
when the bot is full or stopping, and when a session has lasted as long as it may.
"""

import asyncio
import os
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import escape

from loguru import logger
from pipecat.frames.frames import DataFrame, Frame, LLMMessagesAppendFrame, TTSSpeakFrame
from pipecat.pipeline.worker import PipelineWorker
from pipecat.runner.types import RunnerArguments, WebSocketRunnerArguments
from pipecat.transports.base_transport import BaseTransport

from call import update_at_twilio

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
        nobody_answers: What Twilio says if nobody answers.
        connecting: Said before a caller is connected to FALLBACK_NUMBER.
    """

    def __init__(
        self,
        worker: PipelineWorker,
        transport: BaseTransport,
        runner_args: RunnerArguments,
        *,
        nobody_answers: str,
        connecting: str,
    ):
        self._worker, self._transport, self._runner_args = worker, transport, runner_args
        self._nobody_answers = nobody_answers
        self._connecting = connecting
        self._has_spoken = asyncio.Event()
        self._to_fallback: asyncio.Task[bool] | None = None
        worker.add_reached_downstream_filter((TransferFrame,))
        worker.add_event_handler("on_frame_reached_downstream", self._on_frame)

    def _is_call(self) -> bool:
        """Whether the session is a telephone call, and not somebody at a page."""
        return bool(self._runner_args.call_data and self._runner_args.call_data.call_id)

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
        args = self._runner_args
        call_id = str(args.call_data and args.call_data.call_id)
        carrier = args.transport_type if isinstance(args, WebSocketRunnerArguments) else None
        if carrier == "twilio":
            xml = dial(number, self._nobody_answers, caller_id)
            return await update_at_twilio(call_id, xml)
        raise RuntimeError(f"{carrier} cannot connect a call to a number")


def say(sentence: str, element: str = "Say") -> str:
    """Return the XML with which a carrier says a sentence. Plivo's element is "Speak"."""
    return f'<{element} language="de-DE">{escape(sentence)}</{element}>'


def dial(number: str, nobody_answers: str, caller_id: str = "", element: str = "Say") -> str:
    """Return the XML with which a carrier connects a call to a number, or says the sentence."""
    shows = f' callerId="{escape(caller_id)}"' if caller_id else ""
    to = f"<Number>{escape(number)}</Number>"
    calls = f'<Dial timeout="{RING_SECONDS}"{shows}>{to}</Dial>'
    return calls + say(nobody_answers, element)


def instead_of_the_bot(nobody_answers: str, busy: str, element: str = "Say") -> str:
    """Return the XML for a call that the bot does not take: FALLBACK_NUMBER, or a sentence."""
    if number := os.getenv("FALLBACK_NUMBER"):
        return dial(number, nobody_answers, element=element)
    return say(busy, element)
