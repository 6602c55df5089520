"""The log: what happens in a session at INFO, and the framework's own lines at DEBUG."""

import sys
import time
from typing import Any

from loguru import logger
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    ClientConnectedFrame,
    InterruptionFrame,
    LLMContextAssistantTurnFrame,
    LLMContextUserTurnFrame,
    UserStoppedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.observers.base_observer import BaseObserver, FramePushed
from pipecat.pipeline.base_pipeline import BasePipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.processors.frameworks.rtvi.frames import RTVISendTextFrame

# Warnings of the framework that need no action, as of Pipecat 1.14.
HARMLESS = (
    "video transceiver is available",  # the page sends no video
    "Media stream error while reading the audio",  # the person has left
    "EndFrame'> is not serializable",  # the conversation has ended
    "ttfs_p99_latency not set",  # how long a service takes for a last word: a default is used
    "is not emitting turn frames",  # the model decides when somebody has finished
    "service is no longer usable, not speaking [",  # quotes the words; monitor.py names it
)
LEVELS = ("TRACE", "DEBUG", "INFO", "SUCCESS", "WARNING", "ERROR", "CRITICAL")


def set_up(level: str, as_json: bool = False) -> None:
    """Log to stderr, at this level and above.

    The framework logs many lines, and some contain what people say. Except for warnings and errors,
    they appear only at DEBUG.
    """
    level = {"WARN": "WARNING", "FATAL": "CRITICAL"}.get(level, level)  # names in other libraries
    if level not in LEVELS:
        sys.exit(f"LOG_LEVEL is {level!r}; it must be one of {', '.join(LEVELS)}.")
    logger.remove()
    has_all = level in ("DEBUG", "TRACE")
    # `diagnose` would add the values of variables, such as keys, to tracebacks.
    logger.add(
        sys.stderr,
        level=level,
        filter=None if has_all else is_news,
        serialize=as_json,
        diagnose=False,
    )


def is_news(record: Any) -> bool:
    """Whether a line is about the session, or a warning, not about the framework's internals."""
    if any(message in record["message"] for message in HARMLESS):
        return False
    module = record["name"] or ""
    is_internal = module.startswith("pipecat.") and not module.startswith(
        "pipecat.transports.daily"  # logs who joins a room, and its address
    )
    return not is_internal or record["level"].no >= logger.level("WARNING").no


class ConversationLog(BaseObserver):
    """Logs what the person and the bot say in a conversation, and how long the person waits.

    What people say is personal data: without `with_words`, a line only counts the characters.

    Args:
        worker: Runs the pipeline of bot.py. Only its own processors are logged, not those inside
            them.
        with_words: Whether to log what the person and the bot say.
    """

    def __init__(self, worker: PipelineWorker, with_words: bool):
        super().__init__(observe_every_push=False)
        self._parts, self._with_words = parts_of(worker), with_words
        self._started_at = time.monotonic()
        self._last_word_at = 0.0  # of the person, if their speech is detected here
        self._turn_ended_at = 0.0
        self._asked_at = 0.0  # 0 if there is nothing to answer
        self._answered_at = 0.0  # when the bot's voice began
        self._is_speaking = self._is_interrupted = False

    async def on_push_frame(self, data: FramePushed):
        if data.frame.broadcast_sibling_id and data.direction is not FrameDirection.DOWNSTREAM:
            return  # the same frame is seen downstream
        now = time.monotonic()
        match data.frame:
            case ClientConnectedFrame():
                logger.info("Connected")
            case VADUserStoppedSpeakingFrame(stop_secs=silence):
                self._last_word_at = now - silence
            case UserStoppedSpeakingFrame():
                self._turn_ended_at = now
            case LLMContextUserTurnFrame(text=text) if data.source in self._parts:
                self._asked_at = self._last_word_at or self._turn_ended_at
                self._last_word_at = self._turn_ended_at = 0.0
                logger.info(f"Heard {self._shown(text)}")
            case RTVISendTextFrame(text=text):
                self._asked_at = now
                logger.info(f"Read {self._shown(text)}")
            case BotStartedSpeakingFrame():
                self._is_speaking, self._is_interrupted = True, False
                if self._answered_at <= self._asked_at:
                    self._answered_at = now
            case BotStoppedSpeakingFrame():
                self._is_speaking = False
            case InterruptionFrame() if self._is_speaking:
                self._is_interrupted = True
            case LLMContextAssistantTurnFrame(text=text) if data.source in self._parts:
                self._said(text)

    async def cleanup(self):
        logger.info(f"Ended after {time.monotonic() - self._started_at:.0f} s")
        await super().cleanup()

    def _said(self, text: str) -> None:
        waited = self._answered_at - self._asked_at if self._asked_at else 0
        done = f"Answered after {waited:.1f} s:" if waited > 0 else "Said"
        end = ", and was interrupted" if self._is_interrupted else ""
        logger.info(f"{done} {self._shown(text)}{end}")
        self._asked_at = self._answered_at = 0.0
        self._is_interrupted = False

    def _shown(self, text: str) -> str:
        return repr(text) if self._with_words else f"{len(text)} characters"


def parts_of(worker: PipelineWorker) -> list[FrameProcessor]:
    """Return the processors of bot.py's pipeline, which the framework puts into one of its own."""
    pipelines = (part for part in worker.pipeline.processors if isinstance(part, BasePipeline))
    return [part for pipeline in pipelines for part in pipeline.processors]
