"""A voice bot on Pipecat; README.md says how to run it and talk to it.

Gemini Live listens and speaks.
"""

import asyncio
import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read when ONNX Runtime is imported

from pipecat.frames.frames import LLMRunFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.runner.types import RunnerArguments
from pipecat.serializers.protobuf import ProtobufFrameSerializer
from pipecat.services.google.gemini_live.llm import GeminiLiveLLMService
from pipecat.transports.base_transport import BaseTransport, TransportParams, VideoInSourceParams
from pipecat.transports.daily.transport import DailyParams
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams
from pipecat.utils.types import NOT_GIVEN
from pipecat.workers.runner import WorkerRunner

import settings
from facts import facts
from log import log_conversation
from monitor import Service, ServiceMonitor
from settings import Needs
from transports import create_transport

settings.load()

# Who the bot is and how it answers. Change this first.
SYSTEM_INSTRUCTION = (
    "You are a friendly assistant in a voice conversation. What you write is spoken aloud, so "
    "answer in one to three plain sentences, without lists, emojis or other formatting."
)

# Asks the model for a greeting.
GREETING = "Greet the person and introduce yourself briefly."

# Tools: functions that the model may call. README.md has an example.
TOOLS = [
    # your own, one per line
]


def make_services(system_instruction: str = SYSTEM_INSTRUCTION):
    """Return the services of one conversation."""
    llm = GeminiLiveLLMService(
        api_key=os.environ["GOOGLE_API_KEY"],
        settings=GeminiLiveLLMService.Settings(
            model=os.getenv("GOOGLE_MODEL", NOT_GIVEN),
            voice=os.getenv("GOOGLE_VOICE_ID", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm


def build(transport, runner_args):
    """Build the pipeline and its services."""
    system_instruction = SYSTEM_INSTRUCTION + " " + facts(runner_args)

    llm = make_services(system_instruction)

    context = LLMContext([{"role": "developer", "content": GREETING}], tools=[*TOOLS])
    # The model detects turns itself, so there is no voice-activity detector here.
    user_aggregator, assistant_aggregator = LLMContextAggregatorPair(context)

    pipeline = Pipeline(  # audio enters at the top and leaves at the bottom
        [
            transport.input(),
            user_aggregator,
            llm,
            transport.output(),
            assistant_aggregator,
        ]
    )
    return pipeline, {  # their names, and what to check if one fails; see monitor.py
        llm: Service("Gemini Live", "GOOGLE_API_KEY"),
    }


build_lock = asyncio.Lock()


async def run_bot(transport: BaseTransport, runner_args: RunnerArguments):
    """Run one conversation until the person leaves."""
    async with build_lock:  # some libraries cannot be loaded by two threads concurrently
        pipeline, services = await asyncio.to_thread(build, transport, runner_args)
    worker = PipelineWorker(
        pipeline,
        params=PipelineParams(enable_metrics=True, enable_usage_metrics=True),
        idle_timeout_secs=runner_args.pipeline_idle_timeout_secs,
    )
    ServiceMonitor(worker, services)
    log_conversation(worker, pipeline, runner_args)
    runner = WorkerRunner(handle_sigint=runner_args.handle_sigint, force_gc=True)
    await runner.add_workers(worker)

    @worker.rtvi.event_handler("on_client_ready")
    async def on_client_ready(rtvi):
        await worker.queue_frame(LLMRunFrame())

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(transport, client):
        await runner.cancel()

    await runner.run()


async def bot(runner_args: RunnerArguments):
    """Serve one session: the runner calls this for each person who connects."""

    def shared(params: type[TransportParams]) -> TransportParams:
        return params(
            audio_in_enabled=True,
            audio_out_enabled=True,
            video_in_enabled=True,
            video_in_sources={"camera": VideoInSourceParams(framerate=1)},
            video_out_enabled=True,
            video_out_is_live=True,
        )

    transport_params = {
        "webrtc": lambda: shared(TransportParams),
        "daily": lambda: shared(DailyParams),
        "websocket": lambda: FastAPIWebsocketParams(
            audio_in_enabled=True,
            audio_out_enabled=True,
            add_wav_header=False,
            serializer=ProtobufFrameSerializer(),
        ),
    }
    await run_bot(await create_transport(runner_args, transport_params), runner_args)


# Variables that must be set for the bot to start.
REQUIRED = [
    "GOOGLE_API_KEY",
    Needs("DAILY_API_KEY", transport="daily"),
    # your own, one per line
]

if __name__ == "__main__":
    from pipecat.runner.run import app, main

    import local

    settings.require(REQUIRED)
    local.prepare(app)
    main(local.Arguments())
