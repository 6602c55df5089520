"""Logs what both sides say, for a bot that was made with --transcription."""

from loguru import logger
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_response_universal import (
    LLMAssistantAggregator,
    LLMUserAggregator,
)

from vbot.log import parts_of


def log_transcript(worker: PipelineWorker, session: str | None) -> None:
    """Log each turn of a conversation, with the session's id.

    Args:
        worker: Runs the pipeline of bot.py, which has the aggregators.
        session: The id.
    """

    async def on_user_turn_message_added(aggregator, message):
        logger.info(f"Transcript {session}: user: {message.content!r}")

    async def on_assistant_turn_stopped(aggregator, message):
        logger.info(f"Transcript {session}: bot: {message.content!r}")

    for part in parts_of(worker):
        match part:
            case LLMUserAggregator():
                part.add_event_handler("on_user_turn_message_added", on_user_turn_message_added)
            case LLMAssistantAggregator():
                part.add_event_handler("on_assistant_turn_stopped", on_assistant_turn_stopped)
