"""Helpers of bot.py for calls and options."""

import os
import socket
from functools import cache
from importlib.util import find_spec

from loguru import logger
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from pipecat.audio.filters.base_audio_filter import BaseAudioFilter
from pipecat.frames.frames import UserImageRequestFrame
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.runner.types import RunnerArguments
from pipecat.services.llm_service import FunctionCallParams
from pipecat.transports.base_transport import BaseTransport
from pipecat.utils.tracing.setup import setup_tracing
from pipecat.workers.runner import WorkerRunner
from pipecat_whisker import WhiskerServer


def camera_tool(transport: BaseTransport):
    """Return a tool with which the model looks through the person's camera."""
    viewer = ""

    @transport.event_handler("on_client_connected")
    async def on_client_connected(transport, client):
        nonlocal viewer
        viewer = transport.get_client_id(client)

    async def look(params: FunctionCallParams, question: str):
        """Look through the person's camera to answer a question about it.

        Args:
            question: What to find out, such as "What am I holding?".
        """
        frame = UserImageRequestFrame(
            user_id=viewer,
            text=question,
            append_to_context=True,
            function_name=params.function_name,
            tool_call_id=params.tool_call_id,
            result_callback=params.result_callback,
        )
        await params.llm.push_frame(frame, FrameDirection.UPSTREAM)

    return look


def log_transcript(runner_args: RunnerArguments, user: FrameProcessor, bot: FrameProcessor) -> None:
    """Log what both sides say."""
    session = runner_args.session_id

    @user.event_handler("on_user_turn_message_added")
    async def on_user_turn_message_added(aggregator, message):
        logger.info(f"Transcript {session}: user: {message.content!r}")

    @bot.event_handler("on_assistant_turn_stopped")
    async def on_assistant_turn_stopped(aggregator, message):
        logger.info(f"Transcript {session}: bot: {message.content!r}")


def noise_filter() -> BaseAudioFilter | None:
    """Return the noise-cancelling filter. Its SDK is part of Pipecat Cloud's image, not on PyPI."""
    if find_spec("krisp_audio") is None:
        logger.warning("Noise cancelling is off: the krisp_audio SDK is not installed here.")
        return None
    from pipecat.audio.filters.krisp_viva_filter import KrispVivaFilter

    return KrispVivaFilter()


@cache
def send_traces() -> None:
    """Send the traces of this and all later sessions over OTLP, if .env has an address."""
    if os.getenv("OTEL_EXPORTER_OTLP_ENDPOINT"):
        setup_tracing("every-feature", OTLPSpanExporter())


async def observe(worker: PipelineWorker, runner: WorkerRunner) -> None:
    """Trace the session. Show it in Whisker unless that shows another session; see README.md."""
    send_traces()
    try:
        socket.create_server(("localhost", 9090)).close()
    except OSError:
        return  # the port is taken
    whisker = WhiskerServer()
    worker.add_observer(whisker.create_observer(worker))
    await runner.add_workers(whisker)

    @worker.event_handler("on_pipeline_finished")
    async def on_pipeline_finished(worker, frame):
        await runner.cancel()  # otherwise Whisker keeps running
