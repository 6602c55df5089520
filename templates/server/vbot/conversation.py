"""One conversation: looks after the services, the call and the log while a pipeline runs."""

import asyncio
import os
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, ParamSpec, Protocol, TypeVar, runtime_checkable

from loguru import logger
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.runner.types import RunnerArguments
from pipecat.services.tts_service import TTSService
from pipecat.transports.base_transport import BaseTransport
from pipecat.utils.base_object import BaseObject

from vbot import records
from vbot.calls import Call, Transfers, call_of
from vbot.ending import Ending
from vbot.facts import numbers_of
from vbot.limits import Limits
from vbot.log import ConversationLog
from vbot.monitor import Service, ServiceMonitor, members_of, processors_of
from vbot.presence import present
from vbot.sentences import Sentences
from vbot.silence import RealtimeSilenceMonitor, SilenceMonitor
from vbot.tools import ToolMonitor
from vbot.transcript import log_transcript

P = ParamSpec("P")
T = TypeVar("T")
build_lock = asyncio.Lock()

# Called with the Conversation that begins in this context, such as by hosting/, which measures it
# and limits its time.
begins: ContextVar[Callable[["Conversation"], None] | None] = ContextVar("begins", default=None)


async def to_thread(build: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Build a pipeline in a worker thread, so that services that load a model block nobody.

    One at a time: some libraries cannot be loaded by two threads concurrently.
    """
    async with build_lock:
        return await asyncio.to_thread(build, *args, **options)


@runtime_checkable
class Delaying(Protocol):
    """A processor that may hold questions back, such as vbot.ollama.ModelLoader."""

    def delays_answer(self) -> bool:
        """Whether it holds back now what the person asked."""
        ...


class Conversation(BaseObject):
    """Looks after one conversation. What it does depends on what the conversation has.

    - A service that fails or is late is reported in the log, on the page and aloud: monitor.py.
    - A tool that does not answer is noted in the log: tools.py.
    - A call is transferred: calls.py. A caller who says nothing is asked: silence.py.
    - What a page sends, and how much the model is asked, is limited: limits.py.
    - Why it ends is said on the page and in the log: ending.py.
    - What happens is logged: log.py, transcript.py. With RECORDS in .env, it is recorded: records/.

    Events: `on_ready`, once, when the person can hear the bot. Those of `monitor` are `on_late` and
    `on_failed`.

    Args:
        worker: Runs the pipeline.
        transport: Of the conversation.
        runner_args: Of the conversation.
        services: The services of the pipeline, or switchers of services, and what to say of each.
        sentences: What is said word for word.
        with_transcript: Whether to log what both sides say, wherever the bot runs.

    Attributes:
        call: The telephone call; None for somebody at a page.
        ending: Why the conversation ended.
        has_voice: Whether the bot can say sentences word for word; otherwise the model speaks.
    """

    def __init__(
        self,
        worker: PipelineWorker,
        transport: BaseTransport,
        runner_args: RunnerArguments,
        services: Mapping[Any, Service],
        sentences: Sentences,
        *,
        with_transcript: bool = False,
    ):
        super().__init__()
        self.worker, self.transport, self.runner_args = worker, transport, runner_args
        self.sentences = sentences
        self.services = services
        self.call = call_of(runner_args, transport)
        self.has_voice = has_voice(services)
        connecting = sentences.connecting if self.has_voice else ""
        self.transfers = Transfers(worker, self.call, connecting)
        self.monitor = ServiceMonitor(
            worker,
            services,
            apology=sentences.apology if self.has_voice else "",
            please_wait=sentences.please_wait if self.has_voice and self.call else "",
            has_page=not self.call,
            hand_over=self.transfers.fallback,
        )
        worker.add_observer(ToolMonitor())
        Limits(worker, transport.input(), self.monitor.end_because)
        idle = runner_args.pipeline_idle_timeout_secs
        self.ending = Ending(transport, has_page=not self.call, silence=idle)
        self.log = ConversationLog(worker, with_words=runner_args.cli_args is not None)
        self.log.ending = self.ending
        worker.add_observer(self.log)
        if with_transcript:
            log_transcript(worker, runner_args.session_id)
        self._register_event_handler("on_ready")
        self._is_ready = False
        self.silence: SilenceMonitor | None = None  # of a call
        if self.call:
            self._look_after(self.call)
        else:
            worker.rtvi.add_event_handler("on_client_ready", self._ready)
        if presence := present.get():
            presence.conversation_begins()
        if begin := begins.get():
            begin(self)
        records.follow(self, with_transcript)

    @property
    def is_outgoing(self) -> bool:
        """Whether the bot makes the call, so that the person speaks first."""
        return bool(self.call and self.call.is_outgoing)

    def _look_after(self, call: Call) -> None:
        if caller := numbers_of(self.runner_args).get("from"):
            logger.debug(f"Call from {caller!r}")
        kind = SilenceMonitor if self.has_voice else RealtimeSilenceMonitor
        self.silence = kind(
            self.worker,
            question=self.sentences.still_there,
            goodbye=self.sentences.silent_goodbye,
            seconds=float(os.getenv("SILENCE_SECONDS", "10")),
            is_waiting=self.is_waiting,
        )
        self.transport.add_event_handler("on_client_connected", self._ready)
        call.attach(self.transport, self.worker, self.sentences)

    def is_waiting(self) -> bool:
        """Whether the person waits for an answer that may still come."""
        parts = processors_of(self.worker.pipeline, FrameProcessor)
        delaying = (part for part in parts if isinstance(part, Delaying))
        return self.monitor.is_waiting() or any(part.delays_answer() for part in delaying)

    async def _ready(self, *_: Any) -> None:
        if not self._is_ready:
            self._is_ready = True
            await self._call_event_handler("on_ready")


def has_voice(services: Mapping[Any, Service]) -> bool:
    """Whether a service turns text to speech."""
    members = [member for part in services for member in members_of(part)]
    return any(isinstance(member, TTSService) for member in members)
