"""A voice bot on Pipecat; README.md says how to run it and talk to it.

AWS Nova Sonic listens and speaks.
"""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read when ONNX Runtime is imported

from pipecat.frames.frames import EndWorkerFrame, LLMRunFrame
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.runner.types import RunnerArguments
from pipecat.services.aws.nova_sonic.llm import AWSNovaSonicLLMService
from pipecat.services.llm_service import FunctionCallParams
from pipecat.transports.base_transport import BaseTransport
from pipecat.utils.types import NOT_GIVEN
from pipecat.workers.runner import WorkerRunner

import settings
from call import Call, end_call, guard
from watch import Pipeline, Service, Watch

settings.load()

# Who the bot is and how it answers. Change this first.
SYSTEM_INSTRUCTION = (
    "You are a friendly assistant in a voice conversation. What you write is spoken aloud, so "
    "answer in one to three plain sentences, without lists, emojis or other formatting."
)


async def hang_up(params: FunctionCallParams):
    """End the call when the person wants to and you have said goodbye."""
    await params.llm.push_frame(EndWorkerFrame())  # after the speech that is still queued


def build(transport):
    """Return the way that audio takes, and the services. It runs in a thread: others talk on."""
    llm = AWSNovaSonicLLMService(
        secret_access_key=os.environ["AWS_SECRET_ACCESS_KEY"],
        access_key_id=os.environ["AWS_ACCESS_KEY_ID"],
        region=os.environ["AWS_REGION"],
        session_token=os.getenv("AWS_SESSION_TOKEN"),
        settings=AWSNovaSonicLLMService.Settings(
            voice=os.getenv("AWS_VOICE_ID", NOT_GIVEN),
            system_instruction=SYSTEM_INSTRUCTION,
        ),
    )

    # The person who is called speaks first.
    context = LLMContext(tools=[hang_up])
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
    return pipeline, {  # what to name, and what to check, when a service fails
        llm: Service("AWS Nova Sonic", "AWS_SECRET_ACCESS_KEY and AWS_ACCESS_KEY_ID"),
    }


async def run_bot(transport: BaseTransport, runner_args: RunnerArguments, call: Call):
    """Run one conversation until the person leaves."""
    pipeline, services = await settings.in_turn(build, transport)
    worker = PipelineWorker(
        pipeline,
        params=PipelineParams(enable_metrics=True, enable_usage_metrics=True),
        idle_timeout_secs=runner_args.pipeline_idle_timeout_secs,
    )
    Watch(worker, services, page=False)
    runner = WorkerRunner(handle_sigint=runner_args.handle_sigint, force_gc=True)
    await runner.add_workers(worker)

    @transport.event_handler("on_client_connected")
    async def on_client_connected(transport, client):
        await worker.queue_frames([LLMRunFrame()])  # the model listens once it has a context

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(transport, client):
        await runner.cancel()

    call.handle(transport, runner)
    await runner.run()


async def bot(runner_args: RunnerArguments):
    """Serve one session: the runner calls this for each person who connects."""
    call = Call.authentic(runner_args.body)
    transport = call.transport()
    try:
        await run_bot(transport, runner_args, call)
    finally:
        await end_call(call)


REQUIRED = [  # in .env
    "AWS_SECRET_ACCESS_KEY",
    "AWS_ACCESS_KEY_ID",
    "AWS_REGION",
    "DAILY_API_KEY",
]

if __name__ == "__main__":
    from pipecat.runner.run import app, main

    from server import take_calls

    settings.require(REQUIRED)
    settings.prepare(app)
    guard(app)
    take_calls(app, bot)
    main(settings.Arguments())
