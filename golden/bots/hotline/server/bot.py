"""A voice bot on Pipecat; README.md says how to run it and talk to it.

Moonshine listens, Ollama thinks, Piper speaks.
Its prompt, its greeting and its tools are in agent.py.
"""

import vbot  # first, because it reads .env

# isort: split

import os
from pathlib import Path
from typing import Any

from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.frames.frames import TTSSpeakFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    LLMContextAggregatorPair,
    LLMUserAggregatorParams,
)
from pipecat.processors.aggregators.llm_text_processor import LLMTextProcessor
from pipecat.runner.types import RunnerArguments
from pipecat.services.moonshine.stt import MoonshineSTTService
from pipecat.services.ollama.llm import OLLamaLLMService
from pipecat.services.piper.tts import PiperTTSService
from pipecat.transports.base_transport import BaseTransport
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams
from pipecat.utils.types import NOT_GIVEN
from pipecat.workers.runner import WorkerRunner

import agent
from sentences import SENTENCES
from vbot import voicemail
from vbot.first_clause import FirstClauseAggregator
from vbot.models import load_models
from vbot.ollama import ModelLoader

# Your own imports go below. Updates change those above.
# isort: split


def make_services(system_instruction: str = agent.SYSTEM_INSTRUCTION.strip()):
    """Return the services of one conversation."""
    stt = MoonshineSTTService(
        settings=MoonshineSTTService.Settings(
            model=os.getenv("MOONSHINE_MODEL", NOT_GIVEN),
        ),
    )
    address = os.getenv("OLLAMA_BASE_URL", "http://localhost:11434").rstrip("/")
    llm = OLLamaLLMService(
        base_url=address.removesuffix("/v1") + "/v1",
        settings=OLLamaLLMService.Settings(
            model=os.getenv("OLLAMA_MODEL", "llama3.2"),
            system_instruction=system_instruction,
        ),
    )
    tts = PiperTTSService(
        download_dir=Path(folder) if (folder := os.getenv("PIPER_VOICES_DIR")) else None,
        sample_rate=22050,  # the rate of medium and high quality voices
        settings=PiperTTSService.Settings(
            voice=os.getenv("PIPER_VOICE_ID", "en_US-kristin-medium"),
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
            ModelLoader(llm, context, SENTENCES.still_loading),
            llm,
            LLMTextProcessor(text_aggregator=FirstClauseAggregator()),
            tts,
            speech_gate,
            transport.output(),
            assistant_aggregator,
        ]
    )
    services = {  # their names, and what to check in .env if one fails
        # listens
        stt: vbot.Service("Moonshine", "MOONSHINE_VOICE_CACHE"),
        # thinks
        llm: vbot.Service("Ollama", "that it runs, OLLAMA_BASE_URL"),
        # speaks
        tts: vbot.Service("Piper", "PIPER_VOICES_DIR"),
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
        greets = agent.GREETING if agent.SAY_GREETING else SENTENCES.hello
        await worker.queue_frame(TTSSpeakFrame(greets))

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(transport, client):
        await runner.cancel()

    await runner.run()


TRANSPORTS = {  # how people reach the bot
    "asterisk": lambda: FastAPIWebsocketParams(
        audio_in_enabled=True,
        audio_out_enabled=True,
    ),
}


async def bot(runner_args: RunnerArguments):
    """Serve one session: the runner calls this for each person who connects."""
    transport = await vbot.create_transport(runner_args, TRANSPORTS)
    await run_bot(transport, runner_args)


# What must be there for the bot to start. Your own variables are in agent.py.
REQUIRED = [
    *agent.REQUIRED,
    vbot.Needs("ASTERISK_ARI_USER", if_set="ASTERISK_ARI_URL"),
    vbot.Needs("ASTERISK_ARI_PASSWORD", if_set="ASTERISK_ARI_URL"),
    voicemail.problems,
]

if __name__ == "__main__":
    vbot.run(
        bot,
        REQUIRED,
        TRANSPORTS,
        load=lambda: load_models(make_services),
    )
