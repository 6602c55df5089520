"""A voice bot on Pipecat; README.md says how to run it and talk to it.

Deepgram listens, OpenAI thinks, Cartesia speaks.
Its prompt, its greeting and its tools are in agent.py.
"""

import vbot  # first, because it reads .env

# isort: split

import os
from typing import Any

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
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.transports.base_transport import BaseTransport, TransportParams
from pipecat.transports.daily.transport import DailyParams
from pipecat.utils.types import NOT_GIVEN
from pipecat.workers.runner import WorkerRunner

import agent
from sentences import SENTENCES
from vbot import daily, voicemail

# Your own imports go below. Updates change those above.
# isort: split


def make_services(system_instruction: str = agent.SYSTEM_INSTRUCTION.strip()):
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


def build(transport: BaseTransport, runner_args: RunnerArguments):
    """Build the pipeline of one conversation."""
    instructions = [
        agent.SYSTEM_INSTRUCTION.strip(),
        vbot.facts_about(runner_args),
    ]
    tools: list[Any] = [
        vbot.hang_up,
        *agent.TOOLS,
    ]
    stt, llm, tts = make_services(" ".join(instructions))
    detector, speech_gate = voicemail.detect_voicemail(llm, transport, SENTENCES.voicemail)
    context = LLMContext(tools=tools)
    user_aggregator, assistant_aggregator = LLMContextAggregatorPair(
        context, user_params=LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer())
    )
    pipeline = Pipeline(  # audio enters at the top and leaves at the bottom
        [
            transport.input(),
            stt,
            detector,
            user_aggregator,
            llm,
            tts,
            speech_gate,
            transport.output(),
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
    }
    return pipeline, services


async def run_bot(transport: BaseTransport, runner_args: RunnerArguments):
    """Run one conversation until the person leaves."""
    pipeline, services = await vbot.to_thread(build, transport, runner_args)
    worker = PipelineWorker(
        pipeline,
        params=PipelineParams(enable_metrics=True, enable_usage_metrics=True),
        idle_timeout_secs=runner_args.pipeline_idle_timeout_secs,
    )
    # Reports services that fail, asks silent callers, transfers calls, and writes the log.
    conversation = vbot.Conversation(worker, transport, runner_args, services, SENTENCES)
    runner = WorkerRunner(handle_sigint=runner_args.handle_sigint, force_gc=True)
    await runner.add_workers(worker)

    @conversation.event_handler("on_ready")  # once, when the person can hear the bot
    async def on_ready(conversation):
        if conversation.is_outgoing:  # the person who is called speaks first
            return
        if agent.SAY_GREETING:
            await worker.queue_frame(TTSSpeakFrame(agent.GREETING))
        else:
            await worker.queue_frame(vbot.ask_model(agent.GREETING))

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(transport, client):
        await runner.cancel()

    await runner.run()


TRANSPORTS = {  # how people reach the bot
    "call": lambda: DailyParams(
        api_key=os.environ["DAILY_API_KEY"],
        audio_in_enabled=True,
        audio_out_enabled=True,
    ),
    "webrtc": lambda: TransportParams(
        audio_in_enabled=True,
        audio_out_enabled=True,
    ),
    "eval": lambda: EvalTransportParams(audio_in_enabled=True, audio_out_enabled=True),
}


async def bot(runner_args: RunnerArguments):
    """Serve one session: the runner calls this for each person who connects."""
    async with daily.room_of(runner_args):
        transport = await vbot.create_transport(runner_args, TRANSPORTS)
        await run_bot(transport, runner_args)


# What must be there for the bot to start. Your own variables are in agent.py.
REQUIRED = [
    *agent.REQUIRED,
    vbot.Needs("DEEPGRAM_API_KEY", "DEEPGRAM_STT_BASE_URL"),
    vbot.Needs("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "CARTESIA_API_KEY",
    vbot.Needs("DAILY_API_KEY", transport="call"),
    voicemail.problems,
]

if __name__ == "__main__":
    vbot.run(bot, REQUIRED, TRANSPORTS)
