"""How long a session may last, and what happens shortly before that."""

import asyncio
import os

from pipecat.frames.frames import Frame, TTSSpeakFrame
from pipecat.processors.frameworks.rtvi.frames import RTVIServerMessageFrame

from vbot.conversation import Conversation

VISIT_LASTS = 3600  # seconds, at most, unless MAX_SESSION_SECONDS is set
CALL_LASTS = 900  # likewise, for a telephone call
TRANSFER_TAKES = 20  # seconds, at most, in which a call is transferred before its session ends


def max_seconds(is_call: bool) -> int:
    """Return how long a session may last."""
    return int(os.getenv("MAX_SESSION_SECONDS", CALL_LASTS if is_call else VISIT_LASTS))


def announce_end(conversation: Conversation, seconds: float) -> list[asyncio.TimerHandle]:
    """Announce the end of a conversation that may last so long, and transfer its call before it.

    The page is told a minute before, and so is whoever can hear the bot. Returns the timers, which
    keep the pipeline in memory until they are cancelled.
    """
    worker = conversation.worker
    told: list[Frame] = [
        RTVIServerMessageFrame(data={"problem": "This conversation ends in a minute."})
    ]
    if conversation.has_voice:
        told.append(TTSSpeakFrame(conversation.sentences.last_minute, append_to_context=False))

    def announce() -> None:
        worker.create_task(worker.queue_frames(told))

    loop = asyncio.get_running_loop()
    timers = [loop.call_later(max(0, seconds - 60), announce)]
    if transfer := conversation.transfers.fallback:
        at = max(0, seconds - TRANSFER_TAKES)
        timers.append(loop.call_later(at, lambda: worker.create_task(transfer())))

    @worker.event_handler("on_pipeline_finished")
    async def on_pipeline_finished(worker, frame):
        for timer in timers:
            timer.cancel()

    return timers
