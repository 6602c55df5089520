"""A voice bot on Pipecat; README.md says how to run it and talk to it.

Deepgram listens, OpenAI thinks, Cartesia speaks, HeyGen shows a face.
Its prompt, its greeting and its tools are in agent.py.
"""

import vbot  # first, because it reads .env

# isort: split

import os
from typing import Any

import aiohttp
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.evals.transport import EvalTransportParams
from pipecat.frames.frames import TTSSpeakFrame
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

import agent
from sentences import SENTENCES
from vbot.camera import camera_tool
from vbot.noise import noise_filter
from vbot.observability import observe
from vbot.recording import Recording, delete_old_daily

# Your own imports go below. Updates change those above.
# isort: split


def make_services(
    session: aiohttp.ClientSession, system_instruction: str = agent.SYSTEM_INSTRUCTION.strip()
):
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


def build(transport: BaseTransport, runner_args: RunnerArguments, session: aiohttp.ClientSession):
    """Build the pipeline of one conversation."""
    instructions = [
        agent.SYSTEM_INSTRUCTION.strip(),
        vbot.facts_about(runner_args),
    ]
    recording = Recording(runner_args, SENTENCES.recorded)
    instructions.append(recording.instruction)
    tools: list[Any] = [
        *agent.TOOLS,
        camera_tool(transport),
        *recording.tools,
    ]
    stt, llm, tts, video = make_services(session, " ".join(instructions))
    context = LLMContext(tools=tools)
    user_aggregator, assistant_aggregator = LLMContextAggregatorPair(
        context, user_params=LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer())
    )
    pipeline = Pipeline(  # audio enters at the top and leaves at the bottom
        [
            transport.input(),
            stt,
            user_aggregator,
            llm,
            recording.announcement,
            tts,
            video,
            transport.output(),
            recording.recorder,
            assistant_aggregator,
        ]
    )
    services = {  # their names, and what to check in .env if one fails
        # listens
        stt: vbot.Service("Deepgram", "DEEPGRAM_API_KEY"),
        # thinks
        llm: vbot.Service("OpenAI", "OPENAI_API_KEY"),
        # speaks
        tts: vbot.Service("Cartesia", "CARTESIA_API_KEY"),
        # shows a face
        video: vbot.Service("HeyGen", "HEYGEN_API_KEY"),
    }
    return pipeline, services


async def run_bot(
    transport: BaseTransport, runner_args: RunnerArguments, session: aiohttp.ClientSession
):
    """Run one conversation until the person leaves."""
    pipeline, services = await vbot.to_thread(build, transport, runner_args, session)
    worker = PipelineWorker(
        pipeline,
        enable_tracing=True,
        conversation_id=runner_args.session_id,
        params=PipelineParams(enable_metrics=True, enable_usage_metrics=True),
        idle_timeout_secs=runner_args.pipeline_idle_timeout_secs,
    )
    # Reports services that fail, asks silent callers, transfers calls, and writes the log.
    conversation = vbot.Conversation(
        worker, transport, runner_args, services, SENTENCES, with_transcript=True
    )
    runner = WorkerRunner(handle_sigint=runner_args.handle_sigint, force_gc=True)
    await runner.add_workers(worker)
    await observe(worker, runner, "every-feature")

    @conversation.event_handler("on_ready")  # once, when the person can hear the bot
    async def on_ready(conversation):
        if agent.SAY_GREETING:
            await worker.queue_frame(TTSSpeakFrame(agent.GREETING))
        else:
            await worker.queue_frame(vbot.ask_model(agent.GREETING))

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(transport, client):
        await runner.cancel()

    await runner.run()


def shared(params: type[TransportParams]) -> TransportParams:
    """Return parameters that several transports have in common."""
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


TRANSPORTS = {  # how people reach the bot
    "webrtc": lambda: shared(TransportParams),
    "daily": lambda: shared(DailyParams),
    "eval": lambda: EvalTransportParams(audio_in_enabled=True, audio_out_enabled=True),
}


async def bot(runner_args: RunnerArguments):
    """Serve one session: the runner calls this for each person who connects."""
    transport = await vbot.create_transport(runner_args, TRANSPORTS)
    async with aiohttp.ClientSession() as session:
        await run_bot(transport, runner_args, session)


# What must be there for the bot to start. Your own variables are in agent.py.
REQUIRED = [
    *agent.REQUIRED,
    vbot.Needs("DEEPGRAM_API_KEY", "DEEPGRAM_STT_BASE_URL"),
    vbot.Needs("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "CARTESIA_API_KEY",
    "HEYGEN_API_KEY",
    "HEYGEN_AVATAR_ID",
    vbot.Needs("DAILY_API_KEY", transport="daily"),
    Recording.problems,
]

if __name__ == "__main__":
    vbot.run(
        bot,
        REQUIRED,
        TRANSPORTS,
        background=[delete_old_daily],
    )
