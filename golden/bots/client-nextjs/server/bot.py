"""A voice bot on Pipecat; README.md says how to run it and talk to it.

Gemini Live listens and speaks.
Its prompt, its greeting and its tools are in agent.py.
"""

import vbot  # first, because it reads .env

# isort: split

import os
from typing import Any

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

import agent
from sentences import SENTENCES
from vbot import realtime

# Your own imports go below. Updates change those above.
# isort: split


def make_services(system_instruction: str = agent.SYSTEM_INSTRUCTION.strip()):
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


def build(transport: BaseTransport, runner_args: RunnerArguments):
    """Build the pipeline of one conversation."""
    instructions = [
        agent.SYSTEM_INSTRUCTION.strip(),
        vbot.facts_about(runner_args),
    ]
    tools: list[Any] = [
        *agent.TOOLS,
    ]
    llm = make_services(" ".join(instructions))
    context = LLMContext(tools=tools)
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
    services = {  # their names, and what to check in .env if one fails
        # listens and speaks
        llm: vbot.Service("Gemini Live", "GOOGLE_API_KEY"),
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
        await worker.queue_frame(realtime.greeting(agent.GREETING, agent.SAY_GREETING))

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(transport, client):
        await runner.cancel()

    await runner.run()


def shared(params: type[TransportParams]) -> TransportParams:
    """Return parameters that several transports have in common."""
    return params(
        audio_in_enabled=True,
        audio_out_enabled=True,
        video_in_enabled=True,
        video_in_sources={"camera": VideoInSourceParams(framerate=1)},
        video_out_enabled=True,
        video_out_is_live=True,
    )


TRANSPORTS = {  # how people reach the bot
    "webrtc": lambda: shared(TransportParams),
    "daily": lambda: shared(DailyParams),
    "websocket": lambda: FastAPIWebsocketParams(
        audio_in_enabled=True,
        audio_out_enabled=True,
        add_wav_header=False,
        serializer=ProtobufFrameSerializer(),
    ),
}


async def bot(runner_args: RunnerArguments):
    """Serve one session: the runner calls this for each person who connects."""
    transport = await vbot.create_transport(runner_args, TRANSPORTS)
    await run_bot(transport, runner_args)


# What must be there for the bot to start. Your own variables are in agent.py.
REQUIRED = [
    *agent.REQUIRED,
    "GOOGLE_API_KEY",
    vbot.Needs("DAILY_API_KEY", transport="daily"),
]

if __name__ == "__main__":
    vbot.run(bot, REQUIRED, TRANSPORTS)
