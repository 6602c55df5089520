"""A voice bot on Pipecat; README.md says how to run it and talk to it.

OpenAI Realtime listens and speaks.
"""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read when ONNX Runtime is imported

from loguru import logger
from pipecat.frames.frames import EndWorkerFrame, LLMRunFrame
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.runner.types import RunnerArguments
from pipecat.runner.utils import create_transport
from pipecat.services.llm_service import FunctionCallParams
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
from pipecat.workers.runner import WorkerRunner

import settings
from watch import Pipeline, Service, Watch

settings.load()

# Who the bot is and how it answers. Change this first.
SYSTEM_INSTRUCTION = (
    "You are a friendly assistant in a voice conversation. What you write is spoken aloud, so "
    "answer in one to three plain sentences, without lists, emojis or other formatting."
)
GREETING = "Greet the person and introduce yourself briefly."


async def hang_up(params: FunctionCallParams):
    """End the call when the person wants to and you have said goodbye."""
    await params.llm.push_frame(EndWorkerFrame())  # after the speech that is still queued


def build(transport):
    """Return the way that audio takes, and the services. It runs in a thread: others talk on."""
    llm = OpenAIRealtimeLLMService(
        api_key=os.environ["OPENAI_API_KEY"],
        base_url=os.getenv("OPENAI_REALTIME_BASE_URL", "wss://api.openai.com/v1/realtime"),
        settings=OpenAIRealtimeLLMService.Settings(
            session_properties=SessionProperties(
                audio=AudioConfiguration(
                    input=AudioInput(
                        transcription=InputAudioTranscription(model="gpt-realtime-whisper"),
                        turn_detection=SemanticTurnDetection(),
                        noise_reduction=InputAudioNoiseReduction(type="near_field"),
                    )
                )
            ),
            system_instruction=SYSTEM_INSTRUCTION,
        ),
    )

    context = LLMContext([{"role": "developer", "content": GREETING}], tools=[hang_up])
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
    return pipeline, {  # what to name, and what to check, when a service fails
        llm: Service("OpenAI Realtime", "OPENAI_API_KEY"),
    }


async def run_bot(transport: BaseTransport, runner_args: RunnerArguments):
    """Run one conversation until the person leaves."""
    pipeline, services = await settings.in_turn(build, transport)
    worker = PipelineWorker(
        pipeline,
        params=PipelineParams(enable_metrics=True, enable_usage_metrics=True),
        idle_timeout_secs=runner_args.pipeline_idle_timeout_secs,
    )
    Watch(worker, services, page=False)
    runner = WorkerRunner(handle_sigint=runner_args.handle_sigint, force_gc=True)
    await runner.add_workers(worker)

    @transport.event_handler("on_client_connected")
    async def on_client_connected(transport, client):
        await worker.queue_frames([LLMRunFrame()])

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(transport, client):
        await runner.cancel()

    await runner.run()


async def bot(runner_args: RunnerArguments):
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
    if number := runner_args.call_data and runner_args.call_data.from_number:
        logger.debug(f"Call from {number!r}")  # to_number is the number that was called
    await run_bot(transport, runner_args)


REQUIRED = [  # in .env
    "OPENAI_API_KEY",
    "TELNYX_API_KEY for telnyx",
    "PLIVO_AUTH_ID and PLIVO_AUTH_TOKEN for plivo",
]

if __name__ == "__main__":
    from pipecat.runner.run import app, main

    settings.require(REQUIRED)
    settings.prepare(app)
    main(settings.Arguments())
