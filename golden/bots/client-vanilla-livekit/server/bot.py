"""A voice bot on Pipecat.

Deepgram listens, OpenAI thinks, Cartesia speaks.

Run it with `uv run bot.py`; README.md says how to talk to it.
"""

import os

# Turn off the telemetry of ONNX Runtime, before it is imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

import asyncio
import contextlib
import re
import sys
from typing import Any

from dotenv import dotenv_values, load_dotenv
from loguru import logger
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.frames.frames import (
    CancelFrame,
    EndFrame,
    ErrorFrame,
    Frame,
    FunctionCallsStartedFrame,
    InterruptionFrame,
    LLMRunFrame,
    LLMTextFrame,
    TTSSpeakFrame,
    UserImageRequestFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker, ProcessorUnusablePolicy
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    LLMContextAggregatorPair,
    LLMUserAggregatorParams,
)
from pipecat.processors.frame_processor import FrameDirection
from pipecat.processors.frameworks.rtvi.models import Error, ErrorData
from pipecat.runner.types import RunnerArguments
from pipecat.runner.utils import create_transport
from pipecat.services.cartesia.tts import CartesiaTTSService
from pipecat.services.deepgram.stt import DeepgramSTTService
from pipecat.services.llm_service import FunctionCallParams
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.transports.base_transport import BaseTransport, VideoInSourceParams
from pipecat.transports.livekit.transport import LiveKitParams
from pipecat.utils.errors import ErrorCategory
from pipecat.utils.types import NOT_GIVEN
from pipecat.workers.runner import WorkerRunner

load_dotenv(override=True)

# Who the bot is and how it answers. Change this first.
SYSTEM_INSTRUCTION = (
    "You are a friendly assistant in a voice conversation. What you write is spoken aloud, so "
    "answer in one to three plain sentences, without lists, emojis or other formatting."
)

# What it says if the language model fails, or gives no answer for PATIENCE seconds.
APOLOGY = "Sorry, I cannot answer right now. Please try again."
PATIENCE = 15


def if_set(**variables: str) -> dict[str, Any]:
    """Return the arguments whose variable is set. The others keep their defaults."""
    return {name: os.environ[v] for name, v in variables.items() if os.getenv(v)}


async def run_bot(transport: BaseTransport, runner_args: RunnerArguments) -> None:
    """Run one conversation until the person leaves."""
    stt = DeepgramSTTService(
        api_key=os.getenv("DEEPGRAM_API_KEY") or "none",
        base_url=os.getenv("DEEPGRAM_STT_BASE_URL") or "",
    )
    llm = OpenAILLMService(
        api_key=os.getenv("OPENAI_API_KEY") or "none",
        base_url=os.getenv("OPENAI_BASE_URL") or "https://api.openai.com/v1",
        settings=OpenAILLMService.Settings(
            model=os.getenv("OPENAI_MODEL") or NOT_GIVEN,
            system_instruction=SYSTEM_INSTRUCTION,
        ),
    )
    tts = CartesiaTTSService(
        api_key=os.environ["CARTESIA_API_KEY"],
        **if_set(url="CARTESIA_TTS_BASE_URL"),
        settings=CartesiaTTSService.Settings(
            voice=os.getenv("CARTESIA_VOICE_ID") or "86e30c1d-714b-4074-a1f2-1cb6b552fb49"
        ),
    )

    viewer = ""  # the participant whose camera the bot can see

    async def look(params: FunctionCallParams, question: str):
        """Look through the person's camera to answer a question about it.

        Args:
            question: What to find out, such as "What am I holding?".
        """
        await params.llm.push_frame(
            UserImageRequestFrame(
                user_id=viewer,
                text=question,
                append_to_context=True,
                function_name=params.function_name,
                tool_call_id=params.tool_call_id,
                result_callback=params.result_callback,
            ),
            FrameDirection.UPSTREAM,
        )

    context = LLMContext(tools=[look])
    user_aggregator, assistant_aggregator = LLMContextAggregatorPair(
        context,
        user_params=LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer()),
    )

    # Audio enters at the top and leaves at the bottom.
    pipeline = Pipeline(
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
        stt.name: ("Deepgram", "DEEPGRAM_API_KEY"),
        llm.name: ("OpenAI", "OPENAI_API_KEY"),
        tts.name: ("Cartesia", "CARTESIA_API_KEY"),
    }
    answered = asyncio.Event()
    problems: list[str] = []
    page_ready = asyncio.Event()

    @worker.event_handler("on_pipeline_error")
    async def on_pipeline_error(worker, error: ErrorFrame):
        failed = error.processor
        if failed is llm and llm.is_usable and error.category != ErrorCategory.APPLICATION:
            answered.set()
            await worker.queue_frames([TTSSpeakFrame(APOLOGY)])
        if not failed or failed.is_usable or failed.name not in services:
            return  # temporary, or already reported
        label, variables = services.pop(failed.name)
        refused = error.category in (ErrorCategory.AUTHENTICATION, ErrorCategory.AUTHORIZATION)
        what = "refused the key" if refused else "does not work"
        problem = f"{label} {what}. Check {variables} in server/.env"
        problem += ", then start the bot again." if refused else ", the network and the log."
        logger.error(problem)
        problems.append(problem)

    @worker.rtvi.event_handler("on_before_process_frame")
    async def on_before_process_frame(rtvi, frame: Frame):
        if problems and isinstance(frame, EndFrame):
            # Tell the page why the session ends. It may still be loading.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(page_ready.wait(), 20)
            reason = ErrorData(error=" ".join(problems), fatal=True)
            await rtvi.push_transport_message(Error(data=reason))

    # What ends the wait for an answer. The model may be silent without an error.
    ends = (LLMTextFrame, FunctionCallsStartedFrame, InterruptionFrame, EndFrame, CancelFrame)

    @llm.event_handler("on_after_push_frame")
    async def on_model_frame(model, frame: Frame):
        if isinstance(frame, ends):
            answered.set()

    async def await_answer(*_: Any) -> None:
        answered.clear()
        try:
            await asyncio.wait_for(answered.wait(), PATIENCE)
        except TimeoutError:
            logger.error(f"OpenAI has not answered for {PATIENCE} seconds.")
            await tts.queue_frame(TTSSpeakFrame(APOLOGY))  # the model keeps others waiting

    user_aggregator.add_event_handler("on_user_turn_message_added", await_answer)

    @worker.rtvi.event_handler("on_client_ready")
    async def on_client_ready(rtvi):
        page_ready.set()
        logger.info("Connected")
        context.add_message(
            {"role": "developer", "content": "Greet the person and introduce yourself briefly."}
        )
        await worker.queue_frames([LLMRunFrame()])
        await await_answer()

    @transport.event_handler("on_client_connected")
    async def on_client_connected(transport, client):
        nonlocal viewer
        viewer = transport.get_client_id(client)

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(transport, client):
        logger.info("Disconnected")
        await runner.cancel()

    await runner.run()


async def bot(runner_args: RunnerArguments) -> None:
    """Serve one session: the runner calls this for each person who connects."""
    transport_params = {
        "livekit": lambda: LiveKitParams(
            audio_in_enabled=True,
            audio_out_enabled=True,
            video_in_enabled=True,
            video_in_sources={"camera": VideoInSourceParams(framerate=1)},
        ),
    }
    transport = await create_transport(runner_args, transport_params)
    await run_bot(transport, runner_args)


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
        "CARTESIA_API_KEY",
        "LIVEKIT_URL",
        "LIVEKIT_API_KEY",
        "LIVEKIT_API_SECRET",
    ]
    if not os.getenv("DEEPGRAM_STT_BASE_URL"):
        required.append("DEEPGRAM_API_KEY")
    if not os.getenv("OPENAI_BASE_URL"):
        required.append("OPENAI_API_KEY")
    if missing := [name for name in required if not os.getenv(name)]:
        sys.exit(f"Set {', '.join(missing)} in .env; .env.example says where to get them.")


if __name__ == "__main__":
    check_settings()

    from pipecat.runner.run import main

    main()
