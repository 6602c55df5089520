"""A voice bot on Pipecat; README.md says how to run it and talk to it.

Deepgram listens, OpenAI thinks, Cartesia speaks, HeyGen shows a face.
"""

import asyncio
import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read when ONNX Runtime is imported

import aiohttp
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.evals.transport import EvalTransportParams
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
from pipecat.services.heygen.api_liveavatar import LiveAvatarNewSessionRequest
from pipecat.services.heygen.client import ServiceType
from pipecat.services.heygen.video import HeyGenVideoService
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.transports.base_transport import BaseTransport, TransportParams, VideoInSourceParams
from pipecat.transports.daily.transport import DailyParams
from pipecat.utils.types import NOT_GIVEN
from pipecat.workers.runner import WorkerRunner

import metrics
import recording
import settings
from call import camera_tool, log_transcript, noise_filter, observe
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

# Said when the bot records.
RECORDED = "This call is being recorded."

# Tools: functions that the model may call. README.md has an example.
TOOLS = [
    # your own, one per line
]

# With RECORD=ask in .env, the model asks for consent; see recording.py.
SYSTEM_INSTRUCTION += recording.instruction()
TOOLS.extend(recording.tools())


def make_services(session: aiohttp.ClientSession, system_instruction: str = SYSTEM_INSTRUCTION):
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
    video = HeyGenVideoService(
        api_key=os.environ["HEYGEN_API_KEY"],
        service_type=ServiceType.LIVE_AVATAR,
        session=session,
        session_request=LiveAvatarNewSessionRequest(avatar_id=os.environ["HEYGEN_AVATAR_ID"]),
    )
    return stt, llm, tts, video


def build(transport, runner_args, session):
    """Build the pipeline and its services."""
    system_instruction = SYSTEM_INSTRUCTION + " " + facts(runner_args)

    stt, llm, tts, video = make_services(session, system_instruction)

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
            recording.Announcement(RECORDED),
            tts,
            video,
            transport.output(),
            recording.recorder(runner_args),
            assistant_aggregator,
        ]
    )
    log_transcript(runner_args, user_aggregator, assistant_aggregator)
    return pipeline, {  # their names, and what to check if one fails; see monitor.py
        stt: Service("Deepgram", "DEEPGRAM_API_KEY"),
        llm: Service("OpenAI", "OPENAI_API_KEY"),
        tts: Service("Cartesia", "CARTESIA_API_KEY"),
        video: Service("HeyGen", "HEYGEN_API_KEY"),
    }


build_lock = asyncio.Lock()


async def run_bot(
    transport: BaseTransport, runner_args: RunnerArguments, session: aiohttp.ClientSession
):
    """Run one conversation until the person leaves."""
    async with build_lock:  # some libraries cannot be loaded by two threads concurrently
        pipeline, services = await asyncio.to_thread(build, transport, runner_args, session)
    worker = PipelineWorker(
        pipeline,
        enable_tracing=True,
        conversation_id=runner_args.session_id,
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
    await observe(worker, runner)

    @worker.rtvi.event_handler("on_client_ready")
    async def on_client_ready(rtvi):
        await worker.queue_frame(TTSSpeakFrame(GREETING) if SAY_GREETING else LLMRunFrame())

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(transport, client):
        await runner.cancel()

    await runner.run()


async def bot(runner_args: RunnerArguments):
    """Serve one session: the runner calls this for each person who connects."""

    def shared(params: type[TransportParams]) -> TransportParams:
        return params(
            audio_in_enabled=True,
            audio_in_filter=noise_filter(),
            audio_out_enabled=True,
            video_in_enabled=True,
            video_in_sources={"camera": VideoInSourceParams(framerate=1)},
            video_out_enabled=True,
            video_out_is_live=True,
            video_out_width=1280,
            video_out_height=720,
        )

    transport_params = {
        "webrtc": lambda: shared(TransportParams),
        "daily": lambda: shared(DailyParams),
        "eval": lambda: EvalTransportParams(audio_in_enabled=True, audio_out_enabled=True),
    }
    transport = await create_transport(runner_args, transport_params)
    async with aiohttp.ClientSession() as session:
        await run_bot(transport, runner_args, session)


# Variables that must be set for the bot to start.
REQUIRED = [
    Needs("DEEPGRAM_API_KEY", "DEEPGRAM_STT_BASE_URL"),
    Needs("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "CARTESIA_API_KEY",
    "HEYGEN_API_KEY",
    "HEYGEN_AVATAR_ID",
    Needs("DAILY_API_KEY", transport="daily"),
    # your own, one per line
]

if __name__ == "__main__":
    from pipecat.runner.run import app, main

    import local

    settings.require(REQUIRED, problems=recording.problems())
    recording.delete_old_daily()
    local.prepare(app)
    main(local.Arguments())
