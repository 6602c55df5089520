"""Notices when a machine answers a call that the bot makes. VOICEMAIL in .env says what to do.

The bot says nothing until it is clear who answered: a second after the first words end.
"""

import os
from typing import Any

from loguru import logger
from pipecat.classifiers.llm.classifier import LLMClassifier
from pipecat.extensions.voicemail.voicemail_detector import VoicemailDetector
from pipecat.frames.frames import (
    EndWorkerFrame,
    Frame,
    TTSSpeakFrame,
    UserStoppedSpeakingFrame,
)
from pipecat.processors.filters.identity_filter import IdentityFilter
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.llm_service import LLMService
from pipecat.transports.base_transport import BaseTransport

from vbot.calls import of_transport

HANG_UP, LEAVE_MESSAGE = "hang_up", "leave_message"


def wanted() -> str:
    return os.getenv("VOICEMAIL", HANG_UP)


def problems() -> list[str]:
    """Return what is wrong with the setting, if anything is."""
    if wanted() in (HANG_UP, LEAVE_MESSAGE):
        return []
    return [f"Set VOICEMAIL in .env to {HANG_UP} or {LEAVE_MESSAGE}."]


class Detector(VoicemailDetector):
    """Counts whoever says nothing as a person once the bot asks whether they are still there."""

    async def process_frame(self, frame: Frame, direction: FrameDirection):
        await super().process_frame(frame, direction)
        if isinstance(frame, TTSSpeakFrame) and direction is FrameDirection.DOWNSTREAM:
            await super().process_frame(UserStoppedSpeakingFrame(), direction)


def detect_voicemail(
    llm: LLMService[Any], transport: BaseTransport, message: str
) -> tuple[FrameProcessor, FrameProcessor]:
    """Return what listens for a machine, and what holds back the bot's speech until then.

    They do nothing unless the session is a call that the bot makes.

    Args:
        llm: The bot's model, which is also asked who answered.
        transport: Of the session.
        message: What to leave, if VOICEMAIL says so.
    """
    call = of_transport.get(transport)
    if not (call and call.is_outgoing):
        return IdentityFilter(), IdentityFilter()
    leaves_message = wanted() == LEAVE_MESSAGE
    detector = Detector(
        classifier=LLMClassifier(llm=llm),
        voicemail_response_delay=2 if leaves_message else 0,  # seconds of quiet after the greeting
    )

    @detector.event_handler("on_conversation_detected")
    async def on_conversation_detected(detector: VoicemailDetector) -> None:
        logger.info("A person answered")

    @detector.event_handler("on_voicemail_detected")
    async def on_voicemail_detected(detector: VoicemailDetector) -> None:
        if leaves_message:
            logger.info("A machine answered: leaving a message")
            speech = TTSSpeakFrame(message)
            speech.interruptible = False  # by the beep
            await detector.push_frame(speech)
        else:
            logger.info("A machine answered: hanging up")
        await detector.push_frame(EndWorkerFrame(reason="voicemail"))  # after the message

    return detector.detector(), detector.gate()
