"""Says on the page and in the log why a session ends.

A page that is not told takes the end for a connection that was lost.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from loguru import logger
from pipecat.frames.frames import CancelFrame, EndFrame, Frame, OutputTransportMessageUrgentFrame
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.processors.frameworks.rtvi.models import ServerMessage
from pipecat.transports.base_transport import BaseTransport

from vbot.presence import present

# What an EndFrame or a CancelFrame gives as its reason, in the package and in Pipecat 1.14.
SILENCE = ("silence", "idle timeout")
FAILURES = ("failure", "fatal error")
UNUSABLE = "can no longer do its job"

# The words for the log. The page gets the keys, but for "person" and "failure".
WORDS = {
    "bot": "the bot ended it",
    "failure": "something failed",
    "person": "the person left",
    "silence": "nobody spoke",
    "stopped": "the server is stopping",
    "time": "its time was over",
}


class Ending:
    """The end of one conversation.

    Args:
        transport: Of the conversation.
        has_page: Whether the person sees a page.
        silence: Seconds in which nobody speaks, after which the framework ends it.

    Attributes:
        why: Why it ends, a key of WORDS; "" before.
        host_says: Called at the end. Returns a key of WORDS, or "" if the host of the session does
            not end it, or only stops.
    """

    def __init__(self, transport: BaseTransport, has_page: bool, silence: float | None):
        self._has_page, self._silence = has_page, silence
        self._output: Any = transport.output()
        self._task, self._presence = asyncio.current_task(), present.get()
        self._left = False
        self.why = ""
        self.host_says: Callable[[], str] = str
        transport.add_event_handler("on_client_disconnected", self._on_left)
        self._watch(transport.input())

    async def _on_left(self, *_: object) -> None:
        self._left = True

    def _watch(self, source: FrameProcessor) -> None:
        """Tell the page before the transport closes the connection: an observer would be late."""
        process_frame = source.process_frame

        async def process_end(frame: Frame, direction: FrameDirection) -> None:
            if isinstance(frame, EndFrame | CancelFrame) and not self.why:
                self.why = self._reason(frame)
                await self._tell()
            await process_frame(frame, direction)

        source.process_frame = process_end

    def _reason(self, frame: EndFrame | CancelFrame) -> str:
        reason = str(frame.reason or "")
        if self._left or (self._presence and self._presence.is_gone):
            return "person"
        if reason in SILENCE:
            return "silence"
        if reason.startswith(FAILURES) or reason.endswith(UNUSABLE):
            return "failure"
        if self._task and self._task.cancelling():
            return self.host_says() or "stopped"
        return "bot"

    def in_words(self) -> str:
        """Return why it ended, for the log; "" if nobody knows."""
        words = WORDS.get(self.why, "")
        if self.why == "silence" and self._has_page and self._silence:
            words += f" for {self._silence / 60:.0f} minutes"
        return words

    async def _tell(self) -> None:
        if not self._has_page or self.why in ("person", "failure"):
            return
        data: dict[str, str | int] = {"ended": self.why}
        if self.why == "silence" and self._silence:
            data["minutes"] = round(self._silence / 60)
        message = ServerMessage(data=data).model_dump()
        try:
            await self._output.send_message(OutputTransportMessageUrgentFrame(message))
        except Exception as e:  # the connection may be gone
            logger.debug(f"The page was not told of the end: {e!r}")
