"""A voice bot on Pipecat.

AWS Nova Sonic listens and speaks.

Run it with `uv run bot.py`; README.md says how to talk to it.
"""

import os

# Turn off the telemetry of ONNX Runtime, before it is imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

import re
import sys
import time
from collections import deque

from dotenv import dotenv_values, load_dotenv
from loguru import logger
from pipecat.frames.frames import ErrorFrame, LLMRunFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker, ProcessorUnusablePolicy
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.runner.types import RunnerArguments
from pipecat.services.aws.nova_sonic.llm import AWSNovaSonicLLMService
from pipecat.transports.base_transport import BaseTransport
from pipecat.transports.daily.transport import DailyParams, DailyTransport
from pipecat.utils.errors import ErrorCategory
from pipecat.utils.types import NOT_GIVEN
from pipecat.workers.runner import WorkerRunner

from call import Call

load_dotenv(override=True)

# Who the bot is and how it answers. Change this first.
SYSTEM_INSTRUCTION = (
    "You are a friendly assistant in a voice conversation. What you write is spoken aloud, so "
    "answer in one to three plain sentences, without lists, emojis or other formatting."
)

MAX_ATTEMPTS = 3  # to reach the person


async def run_bot(
    transport: BaseTransport,
    runner_args: RunnerArguments,
    call: Call,
) -> None:
    """Run one conversation until the person leaves."""
    llm = AWSNovaSonicLLMService(
        secret_access_key=os.environ["AWS_SECRET_ACCESS_KEY"],
        access_key_id=os.environ["AWS_ACCESS_KEY_ID"],
        region=os.environ["AWS_REGION"],
        session_token=os.getenv("AWS_SESSION_TOKEN") or None,
        settings=AWSNovaSonicLLMService.Settings(
            voice=os.getenv("AWS_VOICE_ID") or NOT_GIVEN,
            system_instruction=SYSTEM_INSTRUCTION,
        ),
    )

    context = LLMContext()
    # The model detects turns itself, so there is no voice-activity detector here.
    user_aggregator, assistant_aggregator = LLMContextAggregatorPair(context)

    # Audio enters at the top and leaves at the bottom.
    pipeline = Pipeline(
        [
            transport.input(),
            user_aggregator,
            llm,
            transport.output(),
            assistant_aggregator,
        ]
    )
    worker = PipelineWorker(
        pipeline,
        params=PipelineParams(enable_metrics=True, enable_usage_metrics=True),
        idle_timeout_secs=runner_args.pipeline_idle_timeout_secs,
        processor_unusable_policy=ProcessorUnusablePolicy.END,
    )
    runner = WorkerRunner(handle_sigint=runner_args.handle_sigint)
    await runner.add_workers(worker)

    # What to name in an error: each service's label and the variables to check.
    services = {
        llm.name: ("AWS Nova Sonic", "AWS_SECRET_ACCESS_KEY and AWS_ACCESS_KEY_ID"),
    }
    errors: deque[float] = deque(maxlen=25)  # when the model failed

    @worker.event_handler("on_pipeline_error")
    async def on_pipeline_error(worker, error: ErrorFrame):
        failed = error.processor
        if failed is llm and llm.is_usable:
            errors.append(time.monotonic())
            # Each piece of audio fails once the connection is lost.
            if len(errors) == errors.maxlen and errors[-1] - errors[0] < 10:
                await llm.push_error("too many errors", force_treat_as_permanent=True)
                return
        if not failed or failed.is_usable or failed.name not in services:
            return  # temporary, or already reported
        label, variables = services.pop(failed.name)
        refused = error.category in (ErrorCategory.AUTHENTICATION, ErrorCategory.AUTHORIZATION)
        what = "refused the key" if refused else "does not work"
        problem = f"{label} {what}. Check {variables} in server/.env"
        problem += ", then start the bot again." if refused else ", the network and the log."
        logger.error(problem)

    @transport.event_handler("on_client_connected")
    async def on_client_connected(transport, client):
        logger.info("Connected")
        # The person who is called speaks first. The model listens once it has a context.
        await worker.queue_frames([LLMRunFrame()])

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(transport, client):
        logger.info("Disconnected")
        await runner.cancel()

    if isinstance(transport, DailyTransport):
        attempts = 0

        async def dial() -> None:
            nonlocal attempts
            attempts += 1
            logger.info(f"Calling {call.phone_number}, attempt {attempts}")
            _, error = await transport.start_dialout({"phoneNumber": call.phone_number})
            if error:
                logger.error(f"The call cannot be started: {error}")
                await runner.cancel()

        @transport.event_handler("on_joined")
        async def on_joined(transport, data):
            await dial()

        @transport.event_handler("on_dialout_answered")
        async def on_dialout_answered(transport, data):
            logger.info("Answered")

        @transport.event_handler("on_dialout_error")
        async def on_dialout_error(transport, data):
            logger.warning(f"The call failed: {data}")
            if attempts < MAX_ATTEMPTS:
                await dial()
            else:
                await runner.cancel()

        @transport.event_handler("on_error")
        async def on_error(transport, error):
            await runner.cancel()  # cannot join the room; the reason is already logged

    await runner.run()


async def bot(runner_args: RunnerArguments) -> None:
    """Serve one session: the runner calls this for each person who connects."""
    call = Call.model_validate(runner_args.body)
    transport = DailyTransport(
        call.room_url,
        call.token,
        "realtime-dial-out",
        params=DailyParams(
            api_key=os.environ["DAILY_API_KEY"],
            audio_in_enabled=True,
            audio_out_enabled=True,
        ),
    )
    await run_bot(transport, runner_args, call)


def check_settings() -> None:
    """Stop if .env lacks what every session needs or holds a broken key."""
    # Such a key cannot be sent, and error messages would show it, even in the browser.
    if odd := [
        name
        for name, value in dotenv_values().items()
        if name.endswith(("_API_KEY", "_ACCESS_KEY", "_SECRET", "_TOKEN"))
        and re.search("[^!-~]", value or "")
    ]:
        sys.exit(f"Copy {', '.join(odd)} to .env again: no spaces, line breaks or curly quotes.")
    required = [
        "AWS_SECRET_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID",
        "AWS_REGION",
        "DAILY_API_KEY",
    ]
    if missing := [name for name in required if not os.getenv(name)]:
        sys.exit(f"Set {', '.join(missing)} in .env; .env.example says where to get them.")


if __name__ == "__main__":
    check_settings()

    from pipecat.runner.run import main

    main()
