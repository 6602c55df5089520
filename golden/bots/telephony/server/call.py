"""Helpers of bot.py for calls and options."""

from pipecat.frames.frames import EndWorkerFrame, TTSSpeakFrame
from pipecat.services.llm_service import FunctionCallParams


async def hang_up(params: FunctionCallParams, goodbye: str):
    """End the call when the person wants to, with a goodbye that is spoken. Say nothing else."""
    await params.llm.push_frame(TTSSpeakFrame(goodbye))
    await params.llm.push_frame(EndWorkerFrame())  # after the speech that is still queued
