"""A voice bot on Pipecat.

OpenAI Realtime listens and speaks.

Run it with `uv run bot.py`; README.md says how to talk to it.
"""

import os

# Turn off the telemetry of ONNX Runtime, before it is imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

import asyncio
import re
import sys
import time
from collections import deque
from typing import Any

from dotenv import dotenv_values, load_dotenv
from loguru import logger
from pipecat.frames.frames import (
    CancelFrame,
    EndFrame,
    ErrorFrame,
    Frame,
    LLMRunFrame,
    TTSAudioRawFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker, ProcessorUnusablePolicy
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.runner.types import RunnerArguments
from pipecat.runner.utils import create_transport
from pipecat.services.openai.realtime.events import (
    AudioConfiguration,
    AudioInput,
    InputAudioNoiseReduction,
    InputAudioTranscription,
    SemanticTurnDetection,
    SessionProperties,
)
from pipecat.services.openai.realtime.llm import OpenAIRealtimeLLMService
from pipecat.transports.base_transport import BaseTransport
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams
from pipecat.utils.errors import ErrorCategory
from pipecat.workers.runner import WorkerRunner

load_dotenv(override=True)

# Who the bot is and how it answers. Change this first.
SYSTEM_INSTRUCTION = (
    "You are a friendly assistant in a voice conversation. What you write is spoken aloud, so "
    "answer in one to three plain sentences, without lists, emojis or other formatting."
)


def if_set(**variables: str) -> dict[str, Any]:
    """Return the arguments whose variable is set. The others keep their defaults."""
    return {name: os.environ[v] for name, v in variables.items() if os.getenv(v)}


async def run_bot(transport: BaseTransport, runner_args: RunnerArguments) -> None:
    """Run one conversation until the person leaves."""
    llm = OpenAIRealtimeLLMService(
        api_key=os.environ["OPENAI_API_KEY"],
        **if_set(base_url="OPENAI_REALTIME_BASE_URL"),
        settings=OpenAIRealtimeLLMService.Settings(
            session_properties=SessionProperties(
                audio=AudioConfiguration(
                    input=AudioInput(
                        transcription=InputAudioTranscription(),
                        turn_detection=SemanticTurnDetection(),
                        noise_reduction=InputAudioNoiseReduction(type="near_field"),
                    )
                )
            ),
            system_instruction=SYSTEM_INSTRUCTION,
        ),
    )

    context = LLMContext()
    # The model detects turns itself, so there is no voice-activity detector here.
    user_aggregator, assistant_aggregator = LLMContextAggregatorPair(context)

    # Audio enters at the top and leaves at the bottom.
    pipeline = Pipeline(
        [
            transport.input(),
            user_aggregator,
            llm,
            transport.output(),
            assistant_aggregator,
        ]
    )
    worker = PipelineWorker(
        pipeline,
        params=PipelineParams(enable_metrics=True, enable_usage_metrics=True),
        idle_timeout_secs=runner_args.pipeline_idle_timeout_secs,
        processor_unusable_policy=ProcessorUnusablePolicy.END,
    )
    runner = WorkerRunner(handle_sigint=runner_args.handle_sigint)
    await runner.add_workers(worker)

    # What to name in an error: each service's label and the variables to check.
    services = {
        llm.name: ("OpenAI Realtime", "OPENAI_API_KEY"),
    }
    errors: deque[float] = deque(maxlen=25)  # when the model failed

    @worker.event_handler("on_pipeline_error")
    async def on_pipeline_error(worker, error: ErrorFrame):
        failed = error.processor
        if failed is llm and llm.is_usable:
            errors.append(time.monotonic())
            # Each piece of audio fails once the connection is lost.
            if len(errors) == errors.maxlen and errors[-1] - errors[0] < 10:
                await llm.push_error("too many errors", force_treat_as_permanent=True)
                return
        if not failed or failed.is_usable or failed.name not in services:
            return  # temporary, or already reported
        label, variables = services.pop(failed.name)
        refused = error.category in (ErrorCategory.AUTHENTICATION, ErrorCategory.AUTHORIZATION)
        what = "refused the key" if refused else "does not work"
        problem = f"{label} {what}. Check {variables} in server/.env"
        problem += ", then start the bot again." if refused else ", the network and the log."
        logger.error(problem)

    started = asyncio.Event()

    @llm.event_handler("on_after_push_frame")
    async def on_after_push_frame(service, frame: Frame):
        if isinstance(frame, (TTSAudioRawFrame, EndFrame, CancelFrame)):
            started.set()

    @transport.event_handler("on_client_connected")
    async def on_client_connected(transport, client):
        logger.info("Connected")
        context.add_message(
            {"role": "developer", "content": "Greet the person and introduce yourself briefly."}
        )
        await worker.queue_frames([LLMRunFrame()])
        # The service may fail without an error. Do not leave the person in silence.
        try:
            await asyncio.wait_for(started.wait(), 20)
        except TimeoutError:
            await llm.push_error("no audio within 20 seconds", force_treat_as_permanent=True)

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(transport, client):
        logger.info("Disconnected")
        await runner.cancel()

    await runner.run()


async def bot(runner_args: RunnerArguments) -> None:
    """Serve one session: the runner calls this for each person who connects."""
    transport_params = {
        "telnyx": lambda: FastAPIWebsocketParams(
            audio_in_enabled=True,
            audio_out_enabled=True,
            audio_out_sample_rate=8000,  # the line's rate; the serializer would clip the last word
        ),
        "plivo": lambda: FastAPIWebsocketParams(
            audio_in_enabled=True,
            audio_out_enabled=True,
            audio_out_sample_rate=8000,  # the line's rate; the serializer would clip the last word
        ),
        "exotel": lambda: FastAPIWebsocketParams(
            audio_in_enabled=True,
            audio_out_enabled=True,
            audio_out_sample_rate=8000,  # the line's rate; the serializer would clip the last word
            audio_out_10ms_chunks=20,  # Exotel takes 3,200 bytes at least
        ),
    }
    transport = await create_transport(runner_args, transport_params)
    await run_bot(transport, runner_args)


def check_settings() -> None:
    """Stop if .env lacks what every session needs or holds a broken key."""
    # Such a key cannot be sent, and error messages would show it, even in the browser.
    if odd := [
        name
        for name, value in dotenv_values().items()
        if name.endswith(("_API_KEY", "_ACCESS_KEY", "_SECRET", "_TOKEN"))
        and re.search("[^!-~]", value or "")
    ]:
        sys.exit(f"Copy {', '.join(odd)} to .env again: no spaces, line breaks or curly quotes.")
    required = [
        "OPENAI_API_KEY",
    ]
    if missing := [name for name in required if not os.getenv(name)]:
        sys.exit(f"Set {', '.join(missing)} in .env; .env.example says where to get them.")


if __name__ == "__main__":
    check_settings()

    from pipecat.runner.run import main

    main()
