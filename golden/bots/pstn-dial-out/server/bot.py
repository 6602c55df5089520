"""A voice bot on Pipecat; README.md says how to run it and talk to it.

Deepgram listens, OpenAI thinks, Cartesia speaks.
"""

import asyncio
import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read when ONNX Runtime is imported

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
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.transports.base_transport import BaseTransport, TransportParams
from pipecat.utils.types import NOT_GIVEN
from pipecat.workers.runner import WorkerRunner

import settings
from call import Call, end_call, guard, hang_up
from facts import facts
from log import log_conversation
from monitor import Service, ServiceMonitor
from settings import Needs
from silence import SilenceMonitor
from transfer import Transfers
from transports import create_transport
from voicemail import detect_voicemail

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

# Said when an answer takes long.
PLEASE_WAIT = "One moment, please."

# Said before a caller is connected to FALLBACK_NUMBER, because the bot cannot go on.
CONNECTING = "Sorry, I cannot help you right now. I am connecting you to a colleague."

# Said to a caller who is silent for SILENCE_SECONDS: the question twice, then the goodbye.
STILL_THERE = "Are you still there?"
SILENT_GOODBYE = "I cannot hear you, so I am ending the call. Goodbye."

# Left on an answering machine, with VOICEMAIL=leave_message in .env.
VOICEMAIL_MESSAGE = "Hello, this is an automated call. We will try again later."

# Tools: functions that the model may call. README.md has an example.
TOOLS = [
    hang_up,
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


def build(transport, runner_args, call):
    """Build the pipeline and its services."""
    system_instruction = SYSTEM_INSTRUCTION + " " + facts(runner_args)

    stt, llm, tts = make_services(system_instruction)
    detector, speech_gate = detect_voicemail(llm, VOICEMAIL_MESSAGE, is_call=bool(call))

    context = LLMContext(  # a person who is called speaks first
        [] if call else [{"role": "developer", "content": GREETING}], tools=[*TOOLS]
    )
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
    return pipeline, {  # their names, and what to check if one fails; see monitor.py
        stt: Service("Deepgram", "DEEPGRAM_API_KEY"),
        llm: Service("OpenAI", "OPENAI_API_KEY"),
        tts: Service("Cartesia", "CARTESIA_API_KEY"),
    }


build_lock = asyncio.Lock()


async def run_bot(transport: BaseTransport, runner_args: RunnerArguments, call: Call | None):
    """Run one conversation until the person leaves."""
    async with build_lock:  # some libraries cannot be loaded by two threads concurrently
        pipeline, services = await asyncio.to_thread(build, transport, runner_args, call)
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
        connecting=CONNECTING,
    )
    monitor = ServiceMonitor(
        worker,
        services,
        apology=APOLOGY,
        please_wait=PLEASE_WAIT,
        has_page=False,  # callers do not see one
        hand_over=transfers.fallback,
    )
    SilenceMonitor(
        worker,
        is_call=bool(call),  # only callers are asked
        question=STILL_THERE,
        goodbye=SILENT_GOODBYE,
        seconds=float(os.getenv("SILENCE_SECONDS", "10")),
        is_waiting=monitor.is_waiting,
    )
    log_conversation(worker, pipeline, runner_args)
    runner = WorkerRunner(handle_sigint=runner_args.handle_sigint, force_gc=True)
    await runner.add_workers(worker)
    if call:
        call.handle(transport, runner)
    is_greeted = bool(call)  # a person who is called speaks first

    @transport.event_handler("on_client_connected")
    async def on_client_connected(transport, client):
        nonlocal is_greeted
        if not is_greeted:
            is_greeted = True
            await worker.queue_frame(TTSSpeakFrame(GREETING) if SAY_GREETING else LLMRunFrame())

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(transport, client):
        await runner.cancel()

    await runner.run()


async def bot(runner_args: RunnerArguments):
    """Serve one session: the runner calls this for each person who connects."""
    transport_params = {
        "webrtc": lambda: TransportParams(audio_in_enabled=True, audio_out_enabled=True),
        "eval": lambda: EvalTransportParams(audio_in_enabled=True, audio_out_enabled=True),
    }
    call = None  # unless webhooks.py started the session
    if isinstance(runner_args.body, dict) and "signature" in runner_args.body:
        call = Call.authentic(runner_args.body)
        transport = call.transport()
    else:
        transport = await create_transport(runner_args, transport_params)
    try:
        await run_bot(transport, runner_args, call)
    finally:
        await end_call(call)


# Variables that must be set for the bot to start.
REQUIRED = [
    Needs("DEEPGRAM_API_KEY", "DEEPGRAM_STT_BASE_URL"),
    Needs("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "CARTESIA_API_KEY",
    # your own, one per line
]

if __name__ == "__main__":
    from pipecat.runner.run import app, main

    import local
    import voicemail
    from webhooks import take_calls

    settings.require(REQUIRED, problems=voicemail.problems())
    local.prepare(app)
    guard(app)
    take_calls(app, bot)
    main(local.Arguments())
