"""A voice bot on Pipecat; README.md says how to run it and talk to it.

Moonshine listens, Ollama thinks, Piper speaks.
"""

import asyncio
import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read when ONNX Runtime is imported

from pathlib import Path

from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.frames.frames import TTSSpeakFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    LLMContextAggregatorPair,
    LLMUserAggregatorParams,
)
from pipecat.processors.aggregators.llm_text_processor import LLMTextProcessor
from pipecat.runner.types import RunnerArguments
from pipecat.services.moonshine.stt import MoonshineSTTService
from pipecat.services.ollama.llm import OLLamaLLMService
from pipecat.services.piper.tts import PiperTTSService
from pipecat.transports.base_transport import BaseTransport, TransportParams
from pipecat.utils.types import NOT_GIVEN
from pipecat.workers.runner import WorkerRunner

import settings
from facts import facts
from first_clause import FirstClauseAggregator
from log import log_conversation
from monitor import Service, ServiceMonitor
from ollama_model import ModelLoader
from transports import create_transport

settings.load()

# Who the bot is and how it answers. Change this first.
SYSTEM_INSTRUCTION = (
    "You are a friendly assistant in a voice conversation. What you write is spoken aloud, so "
    "answer in one to three plain sentences, without lists, emojis or other formatting."
)

# The greeting, spoken as it is written.
GREETING = "Hello! What would you like to talk about?"

# Said when a service fails, in the language of the bot.
APOLOGY = "Sorry, I cannot answer right now. Please try again."

# Said to a person who asks something while the language model is loading.
STILL_LOADING = "The model is still loading. I will answer as soon as it is there."

# Tools: functions that the model may call. README.md has an example.
TOOLS = [
    # your own, one per line
]


def make_services(system_instruction: str = SYSTEM_INSTRUCTION):
    """Return the services of one conversation."""
    stt = MoonshineSTTService(
        settings=MoonshineSTTService.Settings(model=os.getenv("MOONSHINE_MODEL", NOT_GIVEN)),
    )
    address = os.getenv("OLLAMA_BASE_URL", "http://localhost:11434").rstrip("/")
    llm = OLLamaLLMService(
        base_url=address.removesuffix("/v1") + "/v1",
        settings=OLLamaLLMService.Settings(
            model=os.getenv("OLLAMA_MODEL", "llama3.2"),
            system_instruction=system_instruction,
        ),
    )
    tts = PiperTTSService(
        download_dir=Path(folder) if (folder := os.getenv("PIPER_VOICES_DIR")) else None,
        sample_rate=22050,  # the rate of medium and high quality voices
        settings=PiperTTSService.Settings(
            voice=os.getenv("PIPER_VOICE_ID", "en_US-kristin-medium"),
        ),
    )
    return stt, llm, tts


def build(transport, runner_args):
    """Build the pipeline and its services."""
    system_instruction = SYSTEM_INSTRUCTION + " " + facts(runner_args)

    stt, llm, tts = make_services(system_instruction)

    context = LLMContext(tools=[*TOOLS])
    user_aggregator, assistant_aggregator = LLMContextAggregatorPair(
        context, user_params=LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer())
    )

    pipeline = Pipeline(  # audio enters at the top and leaves at the bottom
        [
            transport.input(),
            stt,
            user_aggregator,
            ModelLoader(llm, context, loading=STILL_LOADING),
            llm,
            LLMTextProcessor(text_aggregator=FirstClauseAggregator()),
            tts,
            transport.output(),
            assistant_aggregator,
        ]
    )
    return pipeline, {  # their names, and what to check if one fails; see monitor.py
        stt: Service("Moonshine", "MOONSHINE_VOICE_CACHE"),
        llm: Service("Ollama", "that it runs, OLLAMA_BASE_URL"),
        tts: Service("Piper", "PIPER_VOICES_DIR"),
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
    ServiceMonitor(worker, services, apology=APOLOGY)
    log_conversation(worker, pipeline, runner_args)
    runner = WorkerRunner(handle_sigint=runner_args.handle_sigint, force_gc=True)
    await runner.add_workers(worker)

    @worker.rtvi.event_handler("on_client_ready")
    async def on_client_ready(rtvi):
        await worker.queue_frame(TTSSpeakFrame(GREETING))

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(transport, client):
        await runner.cancel()

    await runner.run()


async def bot(runner_args: RunnerArguments):
    """Serve one session: the runner calls this for each person who connects."""
    transport_params = {
        "webrtc": lambda: TransportParams(audio_in_enabled=True, audio_out_enabled=True),
    }
    await run_bot(await create_transport(runner_args, transport_params), runner_args)


# Variables that must be set for the bot to start.
REQUIRED = [
    # your own, one per line
]

if __name__ == "__main__":
    from pipecat.runner.run import app, main

    import local
    from models import load

    settings.require(REQUIRED)
    local.prepare(app)
    load(make_services)
    main(local.Arguments())
