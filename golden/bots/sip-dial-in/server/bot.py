"""A voice bot on Pipecat; README.md says how to run it and talk to it.

OpenAI Realtime listens and speaks.
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
from pipecat.transports.daily.transport import DailyParams
from pipecat.workers.runner import WorkerRunner

import agent
from sentences import SENTENCES
from vbot import daily, realtime
from vbot.recording import Recording, delete_old_daily

# Your own imports go below. Updates change those above.
# isort: split


def make_services(system_instruction: str = agent.SYSTEM_INSTRUCTION.strip()):
    """Return the services of one conversation."""
    llm = OpenAIRealtimeLLMService(
        api_key=os.environ["OPENAI_API_KEY"],
        base_url=os.getenv("OPENAI_REALTIME_BASE_URL", "wss://api.openai.com/v1/realtime"),
        settings=OpenAIRealtimeLLMService.Settings(
            session_properties=SessionProperties(
                audio=AudioConfiguration(
                    input=AudioInput(
                        transcription=InputAudioTranscription(
                            model="gpt-realtime-whisper",
                        ),
                        turn_detection=SemanticTurnDetection(),
                        noise_reduction=InputAudioNoiseReduction(type="near_field"),
                    )
                )
            ),
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
    recording = Recording(runner_args)
    instructions.append(recording.instruction)
    tools: list[Any] = [
        realtime.hang_up,
        *agent.TOOLS,
        *recording.tools,
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
            recording.recorder,
            assistant_aggregator,
        ]
    )
    services = {  # their names, and what to check in .env if one fails
        # listens and speaks
        llm: vbot.Service("OpenAI Realtime", "OPENAI_API_KEY"),
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
    conversation = vbot.Conversation(
        worker, transport, runner_args, services, SENTENCES, with_transcript=True
    )
    runner = WorkerRunner(handle_sigint=runner_args.handle_sigint, force_gc=True)
    await runner.add_workers(worker)

    @conversation.event_handler("on_ready")  # once, when the person can hear the bot
    async def on_ready(conversation):
        await worker.queue_frame(realtime.greeting(agent.GREETING, agent.SAY_GREETING))

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(transport, client):
        await runner.cancel()

    await runner.run()


TRANSPORTS = {  # how people reach the bot
    "call": lambda: DailyParams(
        audio_in_enabled=True,
        audio_out_enabled=True,
    ),
}


async def bot(runner_args: RunnerArguments):
    """Serve one session: the runner calls this for each person who connects."""
    async with daily.room_of(runner_args):
        transport = await vbot.create_transport(runner_args, TRANSPORTS)
        await run_bot(transport, runner_args)


# What must be there for the bot to start. Your own variables are in agent.py.
REQUIRED = [
    *agent.REQUIRED,
    "OPENAI_API_KEY",
    "DAILY_API_KEY",
    "TWILIO_ACCOUNT_SID",
    vbot.Needs("TWILIO_AUTH_TOKEN", "TWILIO_API_KEY"),
    vbot.Needs("TWILIO_API_SECRET", if_set="TWILIO_API_KEY"),
    Recording.problems,
]

if __name__ == "__main__":
    vbot.run(
        bot,
        REQUIRED,
        TRANSPORTS,
        background=[delete_old_daily],
    )
