"""A voice bot on Pipecat; README.md says how to run it and talk to it.

Deepgram listens, OpenAI thinks, Cartesia speaks, HeyGen shows a face.
"""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read when ONNX Runtime is imported

from pathlib import Path

import aiohttp
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.evals.transport import EvalTransportParams
from pipecat.frames.frames import LLMRunFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    LLMContextAggregatorPair,
    LLMUserAggregatorParams,
)
from pipecat.runner.types import RunnerArguments
from pipecat.runner.utils import create_transport
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
from starlette.responses import FileResponse

import settings
from call import camera_tool, log_transcript, noise_filter, observe, recorder
from watch import Watch

settings.load()

# Who the bot is and how it answers. Change this first.
SYSTEM_INSTRUCTION = (
    "You are a friendly assistant in a voice conversation. What you write is spoken aloud, so "
    "answer in one to three plain sentences, without lists, emojis or other formatting."
)
GREETING = "Greet the person and introduce yourself briefly."
APOLOGY = "Sorry, I cannot answer right now. Please try again."  # said when a service fails


def make_services(session: aiohttp.ClientSession):
    """Return the services of one conversation."""
    stt = DeepgramSTTService(
        api_key=os.getenv("DEEPGRAM_API_KEY", "none"),
        base_url=os.getenv("DEEPGRAM_STT_BASE_URL", ""),
    )
    llm = OpenAILLMService(
        api_key=os.getenv("OPENAI_API_KEY", "none"),
        settings=OpenAILLMService.Settings(
            model=os.getenv("OPENAI_MODEL", NOT_GIVEN),
            system_instruction=SYSTEM_INSTRUCTION,
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


async def run_bot(
    transport: BaseTransport, runner_args: RunnerArguments, session: aiohttp.ClientSession
):
    """Run one conversation until the person leaves."""
    stt, llm, tts, video = make_services(session)
    context = LLMContext(
        [{"role": "developer", "content": GREETING}], tools=[camera_tool(transport)]
    )
    user_aggregator, assistant_aggregator = LLMContextAggregatorPair(
        context, user_params=LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer())
    )

    # Audio enters at the top and leaves at the bottom.
    pipeline = Pipeline(
        [
            transport.input(),
            stt,
            user_aggregator,
            llm,
            tts,
            video,
            transport.output(),
            recorder(runner_args),
            assistant_aggregator,
        ]
    )
    worker = PipelineWorker(
        pipeline,
        params=PipelineParams(enable_metrics=True, enable_usage_metrics=True),
        idle_timeout_secs=runner_args.pipeline_idle_timeout_secs,
        enable_tracing=True,
        conversation_id=runner_args.session_id,
    )
    services = {  # what to name, and what to check, when one of them fails
        stt: ("Deepgram", "DEEPGRAM_API_KEY"),
        llm: ("OpenAI", "OPENAI_API_KEY"),
        tts: ("Cartesia", "CARTESIA_API_KEY"),
        video: ("HeyGen", "HEYGEN_API_KEY"),
    }
    Watch(worker, services, APOLOGY)
    runner = WorkerRunner(handle_sigint=runner_args.handle_sigint)
    await runner.add_workers(worker)
    await observe(worker, runner)
    log_transcript(runner_args, user_aggregator, assistant_aggregator)

    @worker.rtvi.event_handler("on_client_ready")
    async def on_client_ready(rtvi):
        await worker.queue_frames([LLMRunFrame()])

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


REQUIRED = [  # in .env
    "DEEPGRAM_API_KEY or DEEPGRAM_STT_BASE_URL",
    "OPENAI_API_KEY or OPENAI_BASE_URL",
    "CARTESIA_API_KEY",
    "HEYGEN_API_KEY",
    "HEYGEN_AVATAR_ID",
]

if __name__ == "__main__":
    from pipecat.runner.run import app, main

    settings.require(REQUIRED)
    app.add_route("/", lambda _: FileResponse(Path(__file__).with_name("page.html")))
    Watch.ends_with_server = True  # otherwise the server waits until everybody has left
    main()
