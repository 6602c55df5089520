"""A voice bot on Pipecat; README.md says how to run it and talk to it.

OpenAI listens, Anthropic Claude thinks, ElevenLabs speaks.
"""

import asyncio
import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read when ONNX Runtime is imported

from loguru import logger
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
from pipecat.services.anthropic.llm import AnthropicLLMService
from pipecat.services.elevenlabs.tts import ElevenLabsTTSService
from pipecat.services.openai.stt import OpenAISTTService
from pipecat.transports.base_transport import BaseTransport, TransportParams
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams
from pipecat.utils.types import NOT_GIVEN
from pipecat.workers.runner import WorkerRunner

import metrics
import settings
from call import hang_up
from facts import facts
from log import log_conversation
from monitor import Service, ServiceMonitor
from sessions import announce_end
from settings import Needs
from silence import SilenceMonitor
from transfer import Transfers
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
APOLOGY = "Entschuldigung, ich kann gerade nicht antworten. Bitte versuchen Sie es erneut."

# Said when an answer takes long.
PLEASE_WAIT = "Einen Moment, bitte."

# Said a minute before MAX_SESSION_SECONDS are over.
LAST_MINUTE = "Wir haben noch eine Minute."

# Said before a caller is connected to FALLBACK_NUMBER, because the bot cannot go on.
CONNECTING = "Leider kann ich Ihnen gerade nicht helfen. Ich verbinde Sie mit einem Kollegen."

# Said by the carrier if nobody answers a transferred call.
NOBODY_ANSWERS = "Zurzeit kann niemand Ihren Anruf annehmen. Bitte rufen Sie später wieder an."

# Said by the carrier if the bot cannot take a call.
BUSY = "Zurzeit sind alle Leitungen belegt. Bitte rufen Sie später wieder an."

# Said to a caller who is silent for SILENCE_SECONDS: the question twice, then the goodbye.
STILL_THERE = "Sind Sie noch da?"
SILENT_GOODBYE = "Ich kann Sie nicht hören und beende deshalb das Gespräch. Auf Wiederhören."

# Tools: functions that the model may call. README.md has an example.
TOOLS = [
    hang_up,
    # your own, one per line
]

# What the services hear and speak, as a BCP 47 tag.
LANGUAGE = "de"
SYSTEM_INSTRUCTION += " Answer in German."


def make_services(system_instruction: str = SYSTEM_INSTRUCTION):
    """Return the services of one conversation."""
    stt = OpenAISTTService(
        api_key=os.getenv("OPENAI_API_KEY", "none"),
        base_url=os.getenv("OPENAI_STT_BASE_URL"),
        settings=OpenAISTTService.Settings(language=LANGUAGE.split("-")[0]),
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


def build(transport, runner_args):
    """Build the pipeline and its services."""
    system_instruction = SYSTEM_INSTRUCTION + " " + facts(runner_args)

    stt, llm, tts = make_services(system_instruction)

    context = LLMContext([{"role": "developer", "content": GREETING}], tools=[*TOOLS])
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
    return pipeline, {  # their names, and what to check if one fails; see monitor.py
        stt: Service("OpenAI", "OPENAI_API_KEY"),
        llm: Service("Anthropic Claude", "ANTHROPIC_API_KEY"),
        tts: Service("ElevenLabs", "ELEVENLABS_API_KEY"),
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
    transfers = Transfers(
        worker,
        transport,
        runner_args,
        nobody_answers=NOBODY_ANSWERS,
        connecting=CONNECTING,
    )
    monitor = ServiceMonitor(
        worker,
        services,
        apology=APOLOGY,
        please_wait=PLEASE_WAIT,
        has_page=False,  # callers do not see one
        hand_over=transfers.fallback,
        on_failed=metrics.count_failure,
        on_late=metrics.count_delay,
    )
    SilenceMonitor(
        worker,
        is_call=bool(runner_args.call_data),  # only callers are asked
        question=STILL_THERE,
        goodbye=SILENT_GOODBYE,
        seconds=float(os.getenv("SILENCE_SECONDS", "10")),
        is_waiting=monitor.is_waiting,
    )
    metrics.measure(worker)
    announce_end(worker, LAST_MINUTE, transfers.fallback)
    log_conversation(worker, pipeline, runner_args)
    runner = WorkerRunner(handle_sigint=runner_args.handle_sigint, force_gc=True)
    await runner.add_workers(worker)
    is_greeted = False

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
        "twilio": lambda: FastAPIWebsocketParams(
            audio_in_enabled=True,
            audio_out_enabled=True,
            audio_out_sample_rate=8000,  # the line's rate; the serializer would clip the last word
        ),
        "webrtc": lambda: TransportParams(audio_in_enabled=True, audio_out_enabled=True),
        "eval": lambda: EvalTransportParams(audio_in_enabled=True, audio_out_enabled=True),
    }
    transport = await create_transport(runner_args, transport_params)
    if number := runner_args.call_data and runner_args.call_data.from_number:
        logger.debug(f"Call from {number!r}")  # to_number is the number that was called
    await run_bot(transport, runner_args)


# Variables that must be set for the bot to start.
REQUIRED = [
    Needs("OPENAI_API_KEY", "OPENAI_STT_BASE_URL", "OPENAI_BASE_URL"),
    "ANTHROPIC_API_KEY",
    "ELEVENLABS_API_KEY",
    "ELEVENLABS_VOICE_ID",
    Needs("TWILIO_ACCOUNT_SID", transport="twilio"),
    Needs("TWILIO_AUTH_TOKEN", "TWILIO_API_KEY", only_one=True, transport="twilio"),
    Needs("TWILIO_API_SECRET", if_set="TWILIO_API_KEY", transport="twilio"),
    # your own, one per line
]

if __name__ == "__main__":
    from pipecat.runner.run import app, main

    import local

    settings.require(REQUIRED)
    local.prepare(app)
    main(local.Arguments())
