"""A voice bot on Pipecat; README.md says how to run it and talk to it.

Deepgram listens, OpenAI thinks, Cartesia speaks.
"""

import asyncio
import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read when ONNX Runtime is imported

from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.frames.frames import LLMRunFrame, TTSSpeakFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    LLMContextAggregatorPair,
    LLMUserAggregatorParams,
)
from pipecat.runner.types import RunnerArguments
from pipecat.services.cartesia.tts import CartesiaTTSService
from pipecat.services.deepgram.stt import DeepgramSTTService
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.transports.base_transport import BaseTransport, VideoInSourceParams
from pipecat.transports.livekit.transport import LiveKitParams
from pipecat.utils.types import NOT_GIVEN
from pipecat.workers.runner import WorkerRunner

import metrics
import settings
from call import camera_tool
from facts import facts
from log import log_conversation
from monitor import Service, ServiceMonitor
from sessions import announce_end
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
SAY_GREETING = False  # True: GREETING is spoken as it is written, without the model

# Said when a service fails, in the language of the bot.
APOLOGY = "Sorry, I cannot answer right now. Please try again."

# Tools: functions that the model may call. README.md has an example.
TOOLS = [
    # your own, one per line
]


def make_services(system_instruction: str = SYSTEM_INSTRUCTION):
    """Return the services of one conversation."""
    stt = DeepgramSTTService(
        api_key=os.getenv("DEEPGRAM_API_KEY", "none"),
        base_url=os.getenv("DEEPGRAM_STT_BASE_URL", ""),
    )
    llm = OpenAILLMService(
        api_key=os.getenv("OPENAI_API_KEY", "none"),
        settings=OpenAILLMService.Settings(
            model=os.getenv("OPENAI_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    tts = CartesiaTTSService(
        api_key=os.environ["CARTESIA_API_KEY"],
        url=os.getenv("CARTESIA_TTS_BASE_URL", "wss://api.cartesia.ai/tts/websocket"),
        settings=CartesiaTTSService.Settings(
            voice=os.getenv("CARTESIA_VOICE_ID", "86e30c1d-714b-4074-a1f2-1cb6b552fb49"),
        ),
    )
    return stt, llm, tts


def build(transport, runner_args):
    """Build the pipeline and its services."""
    system_instruction = SYSTEM_INSTRUCTION + " " + facts(runner_args)

    stt, llm, tts = make_services(system_instruction)

    context = LLMContext(
        [{"role": "developer", "content": GREETING}], tools=[*TOOLS, camera_tool(transport)]
    )
    user_aggregator, assistant_aggregator = LLMContextAggregatorPair(
        context, user_params=LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer())
    )

    pipeline = Pipeline(  # audio enters at the top and leaves at the bottom
        [
            transport.input(),
            stt,
            user_aggregator,
            llm,
            tts,
            transport.output(),
            assistant_aggregator,
        ]
    )
    return pipeline, {  # their names, and what to check if one fails; see monitor.py
        stt: Service("Deepgram", "DEEPGRAM_API_KEY"),
        llm: Service("OpenAI", "OPENAI_API_KEY"),
        tts: Service("Cartesia", "CARTESIA_API_KEY"),
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
    ServiceMonitor(
        worker,
        services,
        apology=APOLOGY,
        on_failed=metrics.count_failure,
        on_late=metrics.count_delay,
    )
    metrics.measure(worker)
    announce_end(worker)
    log_conversation(worker, pipeline, runner_args)
    runner = WorkerRunner(handle_sigint=runner_args.handle_sigint, force_gc=True)
    await runner.add_workers(worker)

    @worker.rtvi.event_handler("on_client_ready")
    async def on_client_ready(rtvi):
        await worker.queue_frame(TTSSpeakFrame(GREETING) if SAY_GREETING else LLMRunFrame())

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(transport, client):
        await runner.cancel()

    await runner.run()


async def bot(runner_args: RunnerArguments):
    """Serve one session: the runner calls this for each person who connects."""
    transport_params = {
        "livekit": lambda: LiveKitParams(
            audio_in_enabled=True,
            audio_out_enabled=True,
            video_in_enabled=True,
            video_in_sources={"camera": VideoInSourceParams(framerate=1)},
        ),
    }
    await run_bot(await create_transport(runner_args, transport_params), runner_args)


# Variables that must be set for the bot to start.
REQUIRED = [
    Needs("DEEPGRAM_API_KEY", "DEEPGRAM_STT_BASE_URL"),
    Needs("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "CARTESIA_API_KEY",
    "LIVEKIT_URL",
    "LIVEKIT_API_KEY",
    "LIVEKIT_API_SECRET",
    # your own, one per line
]

if __name__ == "__main__":
    from pipecat.runner.run import app, main

    import local

    settings.require(REQUIRED)
    local.prepare(app)
    main(local.Arguments())
