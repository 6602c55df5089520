"""A voice bot on Pipecat; README.md says how to run it and talk to it.

Google Speech-to-Text listens, Google Vertex AI thinks, Gemini TTS speaks.
"""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read when ONNX Runtime is imported

from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.frames.frames import LLMRunFrame
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    LLMContextAggregatorPair,
    LLMUserAggregatorParams,
)
from pipecat.runner.types import RunnerArguments
from pipecat.runner.utils import create_transport
from pipecat.services.google.stt import GoogleSTTService
from pipecat.services.google.tts import GeminiTTSService
from pipecat.services.google.vertex.llm import GoogleVertexLLMService
from pipecat.transports.base_transport import BaseTransport, TransportParams
from pipecat.utils.types import NOT_GIVEN
from pipecat.workers.runner import WorkerRunner

import settings
from watch import Pipeline, Service, Watch

settings.load()

# Who the bot is and how it answers. Change this first.
SYSTEM_INSTRUCTION = (
    "You are a friendly assistant in a voice conversation. What you write is spoken aloud, so "
    "answer in one to three plain sentences, without lists, emojis or other formatting."
)
GREETING = "Greet the person and introduce yourself briefly."
APOLOGY = "Sorry, I cannot answer right now. Please try again."  # said when a service fails


def build(transport):
    """Return the way that audio takes, and the services."""
    stt = GoogleSTTService(
        credentials=os.getenv("GOOGLE_CREDENTIALS_JSON"),
        credentials_path=os.getenv("GOOGLE_APPLICATION_CREDENTIALS"),
    )
    llm = GoogleVertexLLMService(
        credentials=os.getenv("GOOGLE_CREDENTIALS_JSON"),
        credentials_path=os.getenv("GOOGLE_APPLICATION_CREDENTIALS"),
        location=os.getenv("GOOGLE_LOCATION", "global"),
        project_id=os.environ["GOOGLE_PROJECT_ID"],
        settings=GoogleVertexLLMService.Settings(
            model=os.getenv("GOOGLE_MODEL", NOT_GIVEN),
            system_instruction=SYSTEM_INSTRUCTION,
        ),
    )
    tts = GeminiTTSService(
        credentials=os.getenv("GOOGLE_CREDENTIALS_JSON"),
        credentials_path=os.getenv("GOOGLE_APPLICATION_CREDENTIALS"),
        sample_rate=24000,  # Gemini's only rate
        settings=GeminiTTSService.Settings(voice=os.getenv("GOOGLE_VOICE_ID", NOT_GIVEN)),
    )

    context = LLMContext([{"role": "developer", "content": GREETING}])
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
    return pipeline, {  # what to name, and what to check, when a service fails
        stt: Service(
            "Google Speech-to-Text", "GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_CREDENTIALS_JSON"
        ),
        llm: Service(
            "Google Vertex AI", "GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_CREDENTIALS_JSON"
        ),
        tts: Service("Gemini TTS", "GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_CREDENTIALS_JSON"),
    }


async def run_bot(transport: BaseTransport, runner_args: RunnerArguments):
    """Run one conversation until the person leaves."""
    pipeline, services = build(transport)
    worker = PipelineWorker(
        pipeline,
        params=PipelineParams(enable_metrics=True, enable_usage_metrics=True),
        idle_timeout_secs=runner_args.pipeline_idle_timeout_secs,
    )
    Watch(worker, services, APOLOGY)
    runner = WorkerRunner(handle_sigint=runner_args.handle_sigint, force_gc=True)
    await runner.add_workers(worker)

    @worker.rtvi.event_handler("on_client_ready")
    async def on_client_ready(rtvi):
        await worker.queue_frames([LLMRunFrame()])

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(transport, client):
        await runner.cancel()

    await runner.run()


async def bot(runner_args: RunnerArguments):
    """Serve one session: the runner calls this for each person who connects."""
    transport_params = {
        "webrtc": lambda: TransportParams(audio_in_enabled=True, audio_out_enabled=True),
    }
    await run_bot(await create_transport(runner_args, transport_params), runner_args)


REQUIRED = [  # in .env
    "GOOGLE_PROJECT_ID",
]

if __name__ == "__main__":
    from pipecat.runner.run import app, main

    settings.require(REQUIRED, google=True)
    settings.prepare(app)
    main(settings.Arguments())
