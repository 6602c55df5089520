"""A voice bot on Pipecat; README.md says how to run it and talk to it.

OpenAI listens, Anthropic Claude thinks, ElevenLabs speaks.
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
from pipecat.services.anthropic.llm import AnthropicLLMService
from pipecat.services.elevenlabs.tts import ElevenLabsTTSService
from pipecat.services.openai.stt import OpenAISTTService
from pipecat.transports.base_transport import BaseTransport, TransportParams
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams
from pipecat.utils.types import NOT_GIVEN
from pipecat.workers.runner import WorkerRunner

import agent
from sentences import SENTENCES

# Your own imports go below. Updates change those above.
# isort: split

# What the services hear and speak, as a BCP 47 tag, and what the model is told about it.
LANGUAGE = "de"
ANSWER_IN = "Answer in German."


def make_services(system_instruction: str = agent.SYSTEM_INSTRUCTION.strip()):
    """Return the services of one conversation."""
    stt = OpenAISTTService(
        api_key=os.getenv("OPENAI_API_KEY", "none"),
        base_url=os.getenv("OPENAI_STT_BASE_URL"),
        settings=OpenAISTTService.Settings(
            language=LANGUAGE.split("-")[0],
        ),
    )
    llm = AnthropicLLMService(
        api_key=os.environ["ANTHROPIC_API_KEY"],
        settings=AnthropicLLMService.Settings(
            model=os.getenv("ANTHROPIC_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    tts = ElevenLabsTTSService(
        api_key=os.environ["ELEVENLABS_API_KEY"],
        url=os.getenv("ELEVENLABS_TTS_BASE_URL", "wss://api.elevenlabs.io"),
        settings=ElevenLabsTTSService.Settings(
            language=LANGUAGE,
            voice=os.environ["ELEVENLABS_VOICE_ID"],
        ),
    )
    return stt, llm, tts


def build(transport: BaseTransport, runner_args: RunnerArguments):
    """Build the pipeline of one conversation."""
    instructions = [
        agent.SYSTEM_INSTRUCTION.strip(),
        vbot.facts_about(runner_args),
    ]
    instructions.append(ANSWER_IN)
    tools: list[Any] = [
        vbot.hang_up,
        *agent.TOOLS,
    ]
    stt, llm, tts = make_services(" ".join(instructions))
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
            tts,
            transport.output(),
            assistant_aggregator,
        ]
    )
    services = {  # their names, and what to check in .env if one fails
        # listens
        stt: vbot.Service("OpenAI", "OPENAI_API_KEY"),
        # thinks
        llm: vbot.Service("Anthropic Claude", "ANTHROPIC_API_KEY"),
        # speaks
        tts: vbot.Service("ElevenLabs", "ELEVENLABS_API_KEY"),
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
        if agent.SAY_GREETING:
            await worker.queue_frame(TTSSpeakFrame(agent.GREETING))
        else:
            await worker.queue_frame(vbot.ask_model(agent.GREETING))

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(transport, client):
        await runner.cancel()

    await runner.run()


TRANSPORTS = {  # how people reach the bot
    "twilio": lambda: FastAPIWebsocketParams(
        audio_in_enabled=True,
        audio_out_enabled=True,
        audio_out_sample_rate=8000,  # the line's rate; the serializer would clip the last word
    ),
    "webrtc": lambda: TransportParams(
        audio_in_enabled=True,
        audio_out_enabled=True,
    ),
    "eval": lambda: EvalTransportParams(audio_in_enabled=True, audio_out_enabled=True),
}


async def bot(runner_args: RunnerArguments):
    """Serve one session: the runner calls this for each person who connects."""
    transport = await vbot.create_transport(runner_args, TRANSPORTS)
    await run_bot(transport, runner_args)


# What must be there for the bot to start. Your own variables are in agent.py.
REQUIRED = [
    *agent.REQUIRED,
    vbot.Needs("OPENAI_API_KEY", "OPENAI_STT_BASE_URL", "OPENAI_BASE_URL"),
    "ANTHROPIC_API_KEY",
    "ELEVENLABS_API_KEY",
    "ELEVENLABS_VOICE_ID",
    vbot.Needs("TWILIO_ACCOUNT_SID", transport="twilio"),
    vbot.Needs("TWILIO_AUTH_TOKEN", "TWILIO_API_KEY", only_one=True, transport="twilio"),
    vbot.Needs("TWILIO_API_SECRET", if_set="TWILIO_API_KEY", transport="twilio"),
]

if __name__ == "__main__":
    vbot.run(bot, REQUIRED, TRANSPORTS)
