"""A voice bot on Pipecat; README.md says how to run it and talk to it.

OpenAI Realtime listens and speaks.
"""

import asyncio
import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read when ONNX Runtime is imported

from pipecat.frames.frames import LLMRunFrame
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
from pipecat.workers.runner import WorkerRunner

import metrics
import recording
import settings
from call import Call, end_call, guard, hang_up, log_transcript
from facts import facts
from log import log_conversation
from monitor import Service, ServiceMonitor
from sessions import announce_end
from settings import Needs
from silence import SilenceMonitor
from transfer import Transfers

settings.load()

# Who the bot is and how it answers. Change this first.
SYSTEM_INSTRUCTION = (
    "You are a friendly assistant in a voice conversation. What you write is spoken aloud, so "
    "answer in one to three plain sentences, without lists, emojis or other formatting."
)

# Asks the model for a greeting.
GREETING = "Greet the person and introduce yourself briefly."

# Said by the carrier if nobody answers a transferred call.
NOBODY_ANSWERS = "Nobody can take your call right now. Please call again later."

# Said by the carrier if the bot cannot take a call.
BUSY = "All lines are busy right now. Please call again later."

# Said to a caller who is silent for SILENCE_SECONDS: the question twice, then the goodbye.
STILL_THERE = "Are you still there?"
SILENT_GOODBYE = "I cannot hear you, so I am ending the call. Goodbye."

# Tools: functions that the model may call. README.md has an example.
TOOLS = [
    hang_up,
    # your own, one per line
]

# With RECORD=ask in .env, the model asks for consent; see recording.py.
SYSTEM_INSTRUCTION += recording.instruction()
TOOLS.extend(recording.tools())


def make_services(system_instruction: str = SYSTEM_INSTRUCTION):
    """Return the services of one conversation."""
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
            system_instruction=system_instruction,
        ),
    )
    return llm


def build(transport, runner_args):
    """Build the pipeline and its services."""
    system_instruction = SYSTEM_INSTRUCTION + " " + facts(runner_args)

    llm = make_services(system_instruction)

    context = LLMContext([{"role": "developer", "content": GREETING}], tools=[*TOOLS])
    # The model detects turns itself, so there is no voice-activity detector here.
    user_aggregator, assistant_aggregator = LLMContextAggregatorPair(context)

    pipeline = Pipeline(  # audio enters at the top and leaves at the bottom
        [
            transport.input(),
            user_aggregator,
            llm,
            transport.output(),
            recording.recorder(runner_args),
            assistant_aggregator,
        ]
    )
    log_transcript(runner_args, user_aggregator, assistant_aggregator)
    return pipeline, {  # their names, and what to check if one fails; see monitor.py
        llm: Service("OpenAI Realtime", "OPENAI_API_KEY"),
    }


build_lock = asyncio.Lock()


async def run_bot(transport: BaseTransport, runner_args: RunnerArguments, call: Call):
    """Run one conversation until the person leaves."""
    async with build_lock:  # some libraries cannot be loaded by two threads concurrently
        pipeline, services = await asyncio.to_thread(build, transport, runner_args)
    worker = PipelineWorker(
        pipeline,
        params=PipelineParams(enable_metrics=True, enable_usage_metrics=True),
        idle_timeout_secs=runner_args.pipeline_idle_timeout_secs,
    )
    transfers = Transfers(
        worker,
        transport,
        runner_args,
        call,
        nobody_answers=NOBODY_ANSWERS,
    )
    monitor = ServiceMonitor(
        worker,
        services,
        has_page=False,  # callers do not see one
        hand_over=transfers.fallback,
        on_failed=metrics.count_failure,
        on_late=metrics.count_delay,
    )
    SilenceMonitor(
        worker,
        question=STILL_THERE,
        goodbye=SILENT_GOODBYE,
        seconds=float(os.getenv("SILENCE_SECONDS", "10")),
        is_waiting=monitor.is_waiting,
    )
    metrics.measure(worker)
    announce_end(worker, "", transfers.fallback)
    log_conversation(worker, pipeline, runner_args)
    runner = WorkerRunner(handle_sigint=runner_args.handle_sigint, force_gc=True)
    await runner.add_workers(worker)
    call.handle(transport, runner)
    is_greeted = False

    @transport.event_handler("on_client_connected")
    async def on_client_connected(transport, client):
        nonlocal is_greeted
        if not is_greeted:
            is_greeted = True
            await worker.queue_frame(LLMRunFrame())

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(transport, client):
        await runner.cancel()

    await runner.run()


async def bot(runner_args: RunnerArguments):
    """Serve one session: the runner calls this for each person who connects."""
    call = Call.authentic(runner_args.body)
    transport = call.transport()
    try:
        await run_bot(transport, runner_args, call)
    finally:
        await end_call(call)


# Variables that must be set for the bot to start.
REQUIRED = [
    "OPENAI_API_KEY",
    "DAILY_API_KEY",
    "TWILIO_ACCOUNT_SID",
    Needs("TWILIO_AUTH_TOKEN", "TWILIO_API_KEY"),
    Needs("TWILIO_API_SECRET", if_set="TWILIO_API_KEY"),
    # your own, one per line
]

if __name__ == "__main__":
    from pipecat.runner.run import app, main

    import local
    from webhooks import take_calls

    settings.require(REQUIRED, problems=recording.problems())
    recording.delete_old_daily()
    local.prepare(app)
    guard(app)
    take_calls(app, bot)
    main(local.Arguments())
