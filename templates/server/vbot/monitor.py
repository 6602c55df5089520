"""Notices when a service fails or is late, and tells the person and the log.

Each service of the pipeline has a `Health`, which sees the frames that the service is given and
those that it makes. It says what starts a wait for the service and what ends it; the
`ServiceMonitor` measures the waits. Where to change it:

- How long a person waits for one service: `answers_within` in bot.py.
- Other limits: the constants below.
- A message to Slack or a pager: `conversation.monitor.add_event_handler("on_failed", ...)` in
  bot.py. `on_late` is the other event.
- Another kind of service: a subclass of `Health`, and its entry in `HEALTH_BY_KIND`.
"""

import asyncio
import contextlib
import errno
import re
import socket
import traceback
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from loguru import logger
from pipecat.frames.frames import (
    AggregatedTextFrame,
    EndFrame,
    ErrorFrame,
    Frame,
    FunctionCallsStartedFrame,
    InterruptionFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMMarkerFrame,
    LLMMarkerResponseFrame,
    LLMTextFrame,
    LLMThoughtTextFrame,
    OutputAudioRawFrame,
    OutputImageRawFrame,
    OutputTransportMessageUrgentFrame,
    SpeechOutputAudioRawFrame,
    STTMuteFrame,
    TextFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    TTSStoppedFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.observers.base_observer import (
    BaseObserver,
    FrameProcessed,
    FramePushed,
    ProcessorSetUp,
)
from pipecat.pipeline.service_switcher import ServiceSwitcher
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.frame_processor import FrameProcessor, FrameProcessorSetup
from pipecat.processors.frameworks.rtvi.frames import RTVIServerMessageFrame
from pipecat.processors.frameworks.rtvi.models import Error, ErrorData
from pipecat.services.ai_service import AIService
from pipecat.services.llm_service import LLMService
from pipecat.services.stt_service import STTService
from pipecat.services.tts_service import TTSService
from pipecat.transports.base_input import BaseInputTransport
from pipecat.utils.errors import ErrorCategory

from vbot.failover import is_about_a_file, is_too_long

CONNECT_TIMEOUT = 18  # seconds that a service may take to connect; the framework's limit is 20
SWITCH_TIMEOUT = 4  # the same, for a service that another one can replace
NOTED_AFTER = 12  # seconds of waiting, after which a delay is noted, and `please_wait` is said
ERRORS_FOR = 12  # seconds of nothing but errors, after which a service counts as failed
UNREACHABLE_NOTED_AFTER = 1  # as NOTED_AFTER, if nothing listens at the service's address
UNREACHABLE_TOLD_AFTER = 5  # as `answers_within`, if so; most services try again after 4 seconds
UNREACHABLE_COUNTS_FOR = 10  # seconds; what failed longer ago may be reachable again
ERRORS_APART = 2  # seconds without an error, after which the next one starts a new series
PAGE_LOADS_WITHIN = 20  # seconds that a failure waits for the page which is to show it
APOLOGY_TAKES = 12  # seconds, at most, before a failed session ends
UNREACHABLE = "cannot be reached"
UNREADABLE = (
    "The model cannot read this file. It is broken, or of a kind that the model does not take."
)
TOO_LONG = (
    "The conversation was too long for the model, which now gets less of it. Ask again. "
    "MAX_CONTEXT_CHARS in server/.env is the limit."
)
REFUSED = (ErrorCategory.AUTHENTICATION, ErrorCategory.AUTHORIZATION)
# What the framework says of a tool that raises; other errors of a model look different (1.14).
TOOL_RAISED = re.compile(r"(?s)Error executing function call \[(.*?)\]: (.*)")
SERVER = Path(__file__).parents[1]  # the folder with agent.py


@dataclass
class Service:
    """What bot.py says about a service: its name, and what to check in .env if it fails."""

    label: str
    variables: str
    answers_within: float = 21  # seconds, after which the person is told that it is late


def nothing_listens(error: BaseException | None) -> bool:
    """Whether nothing listens at an address, or nothing is known of it."""
    while error:
        if isinstance(error, ConnectionRefusedError | socket.gaierror):
            return True
        # One without a number sums up those of several addresses of a host.
        numbers = (None, errno.ENETUNREACH, errno.EHOSTUNREACH)
        if type(error) is OSError and error.errno in numbers:
            return True
        error = error.__cause__ or error.__context__
    return False


def where_raised(error: BaseException) -> str:
    """Return the last line of the owner's own code that an error came through; "" without one."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path.is_relative_to(SERVER):
            name = path.relative_to(SERVER)
            if name.parts[0] not in (".venv", "vbot"):
                return f"{name.as_posix()}, line {frame.lineno}, in {frame.name}: {frame.line}"
    return ""


def told_of_tool(error: ErrorFrame) -> str:
    """Return what the log says of a tool that raised an error; "" if it is another error."""
    raised = error.exception
    if not raised or not (found := TOOL_RAISED.match(error.error)):
        return ""
    name, text = found.groups()  # in which the framework has masked credentials
    where = where_raised(raised) or "none of its lines was reached"
    return f"The tool {name} failed: {type(raised).__name__}: {text} ({where})"


Part = TypeVar("Part", bound=FrameProcessor)
Report = Callable[["ServiceMonitor", Service, str], Awaitable[None] | None]


def now() -> float:
    return asyncio.get_running_loop().time()


class State(Enum):
    IDLE = "nobody waits for the service"
    WAITING = "a person waits for it to answer, or to go on"
    LATE = "the person has heard the apology, or read that it is late"
    MUTED = "it is not to listen"
    FAILED = "it does not work any more"


class Health:
    """What is known about one service. This class is for one of an unknown kind: its errors."""

    ends_session = False  # when the service has failed
    is_heard = False  # without it, the person hears nothing

    def __init__(self, service: Service):
        self.service = service
        self.state = State.IDLE
        self.waiting_since = 0.0  # when the wait began, or the last part of the answer came
        self.answering = False  # a part of the answer has come
        self.noted = False  # the delay is in the log
        self.reported = False  # the person knows; until the service works again
        self.worked_at = 0.0
        self.connecting_took = 0.0  # seconds; part of what a person waits for the first answer
        self.first_error_at = 0.0  # of a series without an answer in between
        self.last_error_at = 0.0
        self.unreachable_at = 0.0  # when nothing listened at its address; 0.0 once it has connected
        self.shortened = asyncio.Event()  # set when that shortens the wait

    def is_given(self, frame: Frame) -> None:
        """Take note of a frame that the service is about to process."""

    def has_made(self, frame: Frame) -> None:
        """Take note of a frame that the service made."""

    def start_wait(self) -> None:
        self.state = State.WAITING
        self.waiting_since = now() - self.connecting_took
        self.connecting_took = 0.0
        self.answering = self.noted = False

    def go_on(self) -> None:
        """The service works: it has made a part of its answer. More may follow."""
        self.state = State.WAITING
        self.waiting_since = self.worked_at = now()
        self.answering = True
        self.noted = self.reported = False
        self.last_error_at = self.unreachable_at = 0.0

    def end_wait(self) -> None:
        self.state = State.IDLE

    def has_erred(self) -> None:
        if now() - self.last_error_at >= ERRORS_APART:
            self.first_error_at = now()
        self.last_error_at = now()
        self.answering = False

    def is_lost(self) -> bool:
        """Whether it makes only errors, as one does that has lost its connection."""
        return self.last_error_at - self.first_error_at > ERRORS_FOR

    def owes_answer(self) -> bool:
        late = self.state is State.LATE and self.last_error_at < self.waiting_since
        return late or self.state is State.WAITING

    def not_reached(self) -> None:
        """Note that nothing listens at the service's address, which shortens the wait."""
        self.unreachable_at = now()
        self.shortened.set()

    def reached(self) -> None:
        self.unreachable_at = 0.0

    def is_unreachable(self) -> bool:
        counts_since = self.waiting_since - UNREACHABLE_COUNTS_FOR
        return bool(self.unreachable_at) and self.unreachable_at > counts_since

    def look_again(self) -> None:
        """Called when the time is up: end or restart the wait if nobody is really waiting."""

    def limits(self) -> tuple[float, float]:
        """After how many seconds a wait is noted, and after how many the person is told."""
        within = self.service.answers_within
        if self.is_unreachable():
            return UNREACHABLE_NOTED_AFTER, min(UNREACHABLE_TOLD_AFTER, within)
        return NOTED_AFTER, within

    def deadline(self) -> float:
        """When the wait reaches the next of its limits."""
        noted_after, told_after = self.limits()
        return self.waiting_since + (told_after if self.noted else min(noted_after, told_after))

    def what(self) -> str:
        """What is wrong when the wait is too long, to be read after the service's name."""
        if self.is_unreachable():
            return UNREACHABLE
        return f"has not {'gone on' if self.answering else 'answered'} for {self.waited():.0f} s"

    def waited(self) -> float:
        return now() - self.waiting_since


class SpeechToTextHealth(Health):
    """A person who has spoken for a moment waits for the words.

    The wait starts when they stop, and ends with a transcript. Noise is not speech: sounds of
    less than a second, or of more than 15, start no wait, and neither does a radio, which
    plays on while nobody answers.
    """

    ends_session = True

    def __init__(self, service: Service):
        super().__init__(service)
        self.speech_began_at = 0.0
        self.spoken_meanwhile = 0.0  # seconds of sound during a wait

    def is_given(self, frame: Frame) -> None:
        match frame:
            case STTMuteFrame(mute=mute):
                self.state = State.MUTED if mute else State.IDLE
            case VADUserStartedSpeakingFrame():
                self.speech_began_at = now()
            case VADUserStoppedSpeakingFrame() if self.state is not State.MUTED:
                self._speech_ended(now() - self.speech_began_at)

    def _speech_ended(self, seconds: float) -> None:
        if self.state is State.WAITING:
            self.spoken_meanwhile += seconds
        has_transcript = self.worked_at >= self.speech_began_at
        if 1 <= seconds <= 15 and not has_transcript and not self.spoken_meanwhile:
            self.start_wait()

    def has_made(self, frame: Frame) -> None:
        match frame:
            case TextFrame() if self.state is not State.MUTED:
                self.go_on()
                self.end_wait()
                self.spoken_meanwhile = 0.0
            case ErrorFrame():
                self.has_erred()

    def look_again(self) -> None:
        if self.spoken_meanwhile > (now() - self.waiting_since) / 2:
            self.end_wait()


class LanguageModelHealth(Health):
    """A person, or the result of a tool, asks the model and waits for its answer.

    The wait starts with a context that holds a message, goes on with each word or thought, and
    ends with the answer. It also ends when a tool starts or the person speaks again. A model
    that speaks itself (speech to speech) answers without a context after its first sound.
    """

    ends_session = True
    PARTS = (
        LLMTextFrame,
        LLMThoughtTextFrame,
        LLMMarkerFrame,  # instead of an answer
        LLMMarkerResponseFrame,
        OutputAudioRawFrame,
    )
    ENDS = (LLMFullResponseEndFrame, TTSStoppedFrame, SpeechOutputAudioRawFrame)

    def __init__(self, service: Service):
        super().__init__(service)
        self.speaks = False
        self.has_tool_result = False  # to which it need not say more
        self.stopped_at = 0.0

    def is_given(self, frame: Frame) -> None:
        match frame:
            case LLMContextFrame(context=context):
                last = context.messages[-1] if context.messages else None
                self.has_tool_result = isinstance(last, dict) and last.get("role") == "tool"
                if last and not self.speaks:
                    self.start_wait()
            case InterruptionFrame() | FunctionCallsStartedFrame():
                self.end_wait()

    def has_made(self, frame: Frame) -> None:
        if isinstance(frame, self.PARTS):
            self.go_on()
            self.speaks = self.speaks or isinstance(frame, OutputAudioRawFrame)
        elif isinstance(frame, InterruptionFrame | FunctionCallsStartedFrame):
            self.end_wait()
        elif isinstance(frame, ErrorFrame):
            self.has_erred()
            self.has_tool_result = False
        if isinstance(frame, self.ENDS) and (self.answering or self.has_tool_result):
            self.end_wait()

    def end_wait(self) -> None:
        self.stopped_at = now()
        super().end_wait()


class SpeakingHealth(Health):
    """What text to speech and avatars share: they can only be late with what they were given."""

    ends_session = True
    is_heard = True

    def __init__(self, service: Service):
        super().__init__(service)
        self.models: list[LanguageModelHealth] = []  # of the same session

    def is_given(self, frame: Frame) -> None:
        if isinstance(frame, InterruptionFrame | FunctionCallsStartedFrame | LLMThoughtTextFrame):
            self.end_wait()

    def look_again(self) -> None:
        """While the model makes more text, a pause is the model's."""
        for model in self.models if self.answering else []:
            is_busy = model.state in (State.WAITING, State.LATE)
            self.waiting_since = max(self.waiting_since, now() if is_busy else model.stopped_at)


class TextToSpeechHealth(SpeakingHealth):
    """A person waits from a sentence until its sound, and then until the sound has ended."""

    def is_given(self, frame: Frame) -> None:
        super().is_given(frame)
        if type(frame) is AggregatedTextFrame:  # not one of its subclasses, which report speech
            is_spoken = getattr(frame, "will_be_spoken", True) and any(map(str.isalnum, frame.text))
            if is_spoken and (self.answering or self.state is State.IDLE):
                self.start_wait()

    def has_made(self, frame: Frame) -> None:
        match frame:
            case TTSAudioRawFrame():
                self.go_on()
            case TTSStoppedFrame() if self.answering:  # others are the framework's
                self.end_wait()
            case ErrorFrame():
                self.has_erred()
            case _:
                self.is_given(frame)


class AvatarHealth(SpeakingHealth):
    """A person waits from the speech that an avatar is given until it shows or says something."""

    def is_given(self, frame: Frame) -> None:
        if type(frame) is TTSAudioRawFrame and self.state is State.IDLE:
            self.start_wait()
        super().is_given(frame)

    def has_made(self, frame: Frame) -> None:
        match frame:
            case OutputImageRawFrame() | SpeechOutputAudioRawFrame():
                self.go_on()
                self.end_wait()
            case ErrorFrame():
                self.has_erred()


HEALTH_BY_KIND: dict[type[FrameProcessor], type[Health]] = {
    STTService: SpeechToTextHealth,
    LLMService: LanguageModelHealth,
    TTSService: TextToSpeechHealth,
    AIService: AvatarHealth,  # which have no class of their own
}


def members_of(part: Any) -> list[FrameProcessor]:
    """Return the services of a switcher; of a service, itself."""
    return getattr(part, "services", [part])


def processors_of(part: FrameProcessor, kind: type[Part]) -> Iterator[Part]:
    """Return the processors of a kind in a part of the pipeline, at any depth."""
    if isinstance(part, kind):
        yield part
    for inner in part.processors:
        yield from processors_of(inner, kind)


def health_of(part: FrameProcessor, service: Service) -> Health:
    """Return the Health for the kind of service that the part is."""
    kinds = (health for kind, health in HEALTH_BY_KIND.items() if isinstance(part, kind))
    return next(kinds, Health)(service)


class ServiceMonitor(BaseObserver):
    """Monitors the services of a session.

    A service that is late is noted in the log and on the page. One that is later still, or that
    has failed, is reported: in the log, on the page and aloud. Requests are never cancelled, so
    that a late answer is spoken when it comes. A session that cannot go on ends with an apology.

    Events, which are also keyword arguments: `on_failed` and `on_late`, each called with the
    monitor, the Service and a sentence.

    Args:
        worker: Runs the pipeline of the session.
        services: The services of the pipeline, or switchers of services, and what to say about
            each. All others are monitored, too, but only for errors.
        apology: Said when a service fails; "" for a bot without text to speech.
        please_wait: Said when an answer takes long; "" to say nothing.
        has_page: Whether the person sees a page. Without one, the session ends if the bot cannot
            speak about a failure.
        on_failed: Called when a service has failed, or is so late that the person was told.
        on_late: Called when a delay is noted.
        hand_over: Called before a session ends because it cannot go on, or because a service has
            not answered twice. Its argument says whether the bot can still speak. Returns
            whether somebody else takes the call: then the bot does not apologize, and the
            session ends when the call leaves it.

    Attributes:
        problems: Because of which the session ends.
    """

    def __init__(
        self,
        worker: PipelineWorker,
        services: Mapping[Any, Service],
        *,
        apology: str = "",
        please_wait: str = "",
        has_page: bool = True,
        on_failed: Report | None = None,
        on_late: Report | None = None,
        hand_over: Callable[[bool], Awaitable[bool]] | None = None,
    ):
        super().__init__()
        self._worker = worker
        self._apology, self._please_wait = apology, please_wait
        self._has_page, self._page_is_ready = has_page, asyncio.Event()
        self._hand_over = hand_over
        self._healths: dict[FrameProcessor, Health] = {}
        self._parts: dict[Health, Any] = {}  # services, or switchers of services
        self._unconnected = dict(services)
        self._waits: dict[Health, asyncio.Task[None]] = {}
        self.problems: list[str] = []
        for part, service in services.items():
            self._add(part, health_of(members_of(part)[0], service))
        speaking = (p for h, p in self._parts.items() if isinstance(h, TextToSpeechHealth))
        self._tts = next(speaking, None)
        limit_connecting(worker.pipeline, CONNECT_TIMEOUT)
        for event, handler in (("on_failed", on_failed), ("on_late", on_late)):
            self._register_event_handler(event)
            if handler:
                self.add_event_handler(event, handler)
        worker.add_observer(self)
        worker.add_event_handler("on_pipeline_error", self._on_pipeline_error)
        worker.add_event_handler("on_setup_timeout", self._on_setup_timeout)
        with contextlib.suppress(Exception):  # RTVI may be off
            worker.rtvi.add_event_handler("on_client_ready", lambda _: self._page_is_ready.set())

    def _add(self, part: FrameProcessor, health: Health) -> None:
        """Add a service, or a switcher, whose services count as one."""
        self._healths |= dict.fromkeys(members_of(part), health)
        self._parts[health] = part
        for member in members_of(part):
            if isinstance(member, STTService | TTSService):
                member.add_event_handler("on_connected", lambda _: health.reached())
        models = [one for one in self._healths.values() if isinstance(one, LanguageModelHealth)]
        for one in self._healths.values():
            if isinstance(one, SpeakingHealth):
                one.models = models

    def is_waiting(self) -> bool:
        """Whether a service owes the person an answer that may still come."""
        return any(health.owes_answer() for health in self._healths.values())

    def _in_use(self, part: FrameProcessor) -> Health | None:
        """Return the Health of a service, unless its switcher uses another one."""
        health = self._healths.get(part)
        strategy = health and getattr(self._parts[health], "strategy", None)
        return health if not strategy or strategy.active_service is part else None

    # What the framework tells an observer.

    async def on_processor_setup(self, data: ProcessorSetUp):
        self._unconnected.pop(data.processor, None)
        if health := self._healths.get(data.processor):
            health.connecting_took = (data.finished_at_ns - data.started_at_ns) / 1e9

    async def on_process_frame(self, data: FrameProcessed):
        if health := self._in_use(data.processor):
            self._see(health, health.is_given, data.frame)

    async def on_push_frame(self, data: FramePushed):
        if data.first_push and (health := self._in_use(data.source)):
            self._see(health, health.has_made, data.frame)

    async def cleanup(self):
        for task in list(self._waits.values()):
            await self.cancel_task(task)
        await super().cleanup()

    # Waits.

    def _see(self, health: Health, sees: Callable[[Frame], None], frame: Frame) -> None:
        if health.state is State.FAILED:
            return
        was_noted, was_reported = health.noted, health.reported
        sees(frame)
        if was_reported and not health.reported or was_noted and health.answering:
            self.create_task(self._tell_that_it_works(was_reported))
        if health.state is State.WAITING and health not in self._waits:
            self._waits[health] = self.create_task(self._follow(health))

    async def _follow(self, health: Health) -> None:
        """Note that a wait is long. Report it after the time that a person would wait."""
        while health.state is State.WAITING and not self.problems:
            with contextlib.suppress(TimeoutError):
                left = max(0.0, health.deadline() - now())
                await asyncio.wait_for(health.shortened.wait(), left)
            health.shortened.clear()
            if health.state is State.WAITING and health.deadline() <= now():
                health.look_again()
            if health.state is not State.WAITING or health.deadline() > now():
                continue
            _, told_after = health.limits()
            if await self._another_answers(health, health.what()):
                await self._note(health, health.what())
                health.start_wait()
            elif health.waited() < told_after:
                await self._note(health, health.what())
            elif not health.reported or self._hand_over:
                await self._report(health, self._state_after(health), health.what())
            elif health.is_unreachable() and health.is_heard and not self._has_page:
                # The apology was another try to connect.
                await self._report(health, State.FAILED, UNREACHABLE)
            else:
                health.end_wait()  # the person knows
        del self._waits[health]

    async def _another_answers(self, health: Health, what: str) -> bool:
        """Whether failover.py lets another service answer instead of one that is late."""
        limit = health.service.answers_within
        if limit > Service.answers_within and health.waited() < limit:
            return False  # it is known to be slow
        take_over = getattr(self._parts[health], "take_over", None)
        return bool(take_over and await take_over(what))

    async def _note(self, health: Health, what: str) -> None:
        health.noted = True
        sentence = f"{health.service.label} {what}"
        logger.warning(sentence)
        await self._call_event_handler("on_late", health.service, sentence)
        await self._tell(health, {"waiting": health.service.label}, self._please_wait)

    async def _tell_that_it_works(self, was_reported: bool) -> None:
        """Have the page remove what it shows of a service that was late or failed to answer."""
        data = {"waiting": ""}
        if was_reported and not any(health.reported for health in self._healths.values()):
            data["problem"] = ""
        await self._worker.queue_frame(RTVIServerMessageFrame(data=data))

    # Failures.

    async def _on_pipeline_error(self, worker: PipelineWorker, error: ErrorFrame) -> None:
        """Handle an error, unless another service of a switcher has taken over."""
        part = error.processor
        if not part:
            return
        if isinstance(part, BaseInputTransport):
            await worker.cancel(reason="failure")  # for example, it cannot join the room
        health = self._healths.get(members_of(part)[0])
        if not health:  # bot.py says nothing about it
            health = Health(Service(part.name, "its key"))
            self._add(part, health)
        if told := told_of_tool(error):  # no service failed
            logger.error(told)
            return
        if health.state is State.FAILED:
            return
        if is_about_a_file(error):
            health.end_wait()
            logger.warning(f"{health.service.label} cannot read a file of the page")
            await self._tell(health, {"problem": UNREADABLE}, "")
        elif is_too_long(error):  # limits.py makes the next request shorter
            health.end_wait()
            logger.warning(f"{health.service.label} cannot read a conversation of this length")
            await self._tell(health, {"problem": TOO_LONG}, self._apology)
        elif health.is_lost() or not part.is_usable:
            if error.category in REFUSED:
                await self._report(
                    health, State.FAILED, "refused the key", advice="then start the bot again"
                )
            else:
                unreachable = nothing_listens(error.exception) or health.is_unreachable()
                what = UNREACHABLE if unreachable else "does not work"
                await self._report(health, State.FAILED, what)
        elif isinstance(health, LanguageModelHealth) and self._tts:  # it has given up a request
            is_own = error.category != ErrorCategory.APPLICATION  # not one of a processor before it
            if is_own and health.state is State.WAITING:
                what = UNREACHABLE if nothing_listens(error.exception) else "failed to answer"
                await self._report(health, self._state_after(health), what)
        elif nothing_listens(error.exception):  # it may try again
            health.not_reached()

    def _state_after(self, health: Health) -> State:
        """Return the state of a service without an answer: a caller is not asked to wait twice."""
        return State.FAILED if health.reported and self._hand_over else State.LATE

    async def _on_setup_timeout(self, worker: PipelineWorker) -> None:
        """A switcher waits for all its services, and the pipeline for the switcher."""
        for part in self._unconnected:
            health = self._healths[members_of(part)[0]]
            await self._report(health, State.FAILED, "does not connect")

    async def _report(
        self, health: Health, state: State, what: str, advice: str = "the network and the log"
    ) -> None:
        """Say what is wrong and what to check. End a session that cannot go on.

        Args:
            health: Of the service, which gets the state: LATE or FAILED.
            state: The state.
            what: What is wrong; the service's name comes before it.
            advice: What else to check or do, after the service's variables.
        """
        health.state, health.reported = state, True
        service = health.service
        key_is_innocent = what == UNREACHABLE and "KEY" in service.variables
        check = "its address" if key_is_innocent else service.variables
        problem = f"{service.label} {what}. Check {check} in server/.env, {advice}."
        logger.error(problem)
        await self._call_event_handler("on_failed", service, problem)
        if state is State.FAILED and health.ends_session:
            self.end_because(problem)
        elif not await self._tell(health, {"problem": problem}, self._apology):
            if health.ends_session:
                self.end_because(problem)

    def end_because(self, problem: str) -> None:
        """End the session, and say on the page and aloud that it cannot go on."""
        self.problems.append(problem)
        if len(self.problems) == 1:
            self.create_task(self._end_session())

    async def _tell(self, health: Health, to_page: dict[str, str], aloud: str) -> bool:
        """Tell the page, and aloud if that can be heard. Return False if neither is possible."""
        await self._worker.queue_frame(RTVIServerMessageFrame(data=to_page))
        tts = None if health.is_heard else self._tts
        if health.is_heard and health.state is State.LATE and health.is_unreachable():
            tts = self._tts  # which tries again to connect; if it cannot, another wait tells
            health.end_wait()
        if tts and aloud:
            await tts.queue_frame(TTSSpeakFrame(aloud, append_to_context=False))
        return bool(tts or self._has_page)

    async def _end_session(self) -> None:
        """Tell the page and the person why, and then end the session."""
        if self._has_page:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._page_is_ready.wait(), PAGE_LOADS_WITHIN)
        problems = " ".join(self.problems)
        error = Error(data=ErrorData(error=problems, fatal=True)).model_dump()
        # The interruption frees a voice that is busy.
        await self._worker.queue_frames(
            [OutputTransportMessageUrgentFrame(error), InterruptionFrame()]
        )
        tts = self._tts and self._healths[members_of(self._tts)[0]]
        can_speak = bool(tts and tts.state in (State.IDLE, State.WAITING))
        if self._hand_over and await self._hand_over(can_speak):
            return
        last: list[Frame] = [TTSSpeakFrame(self._apology)] if can_speak else []
        await self._worker.queue_frames([*last, EndFrame(reason="failure")])
        await asyncio.sleep(APOLOGY_TAKES if can_speak else 1)
        await self._worker.cancel(reason="failure")


def limit_connecting(pipeline: FrameProcessor, seconds: float) -> None:
    """Let each part of a pipeline connect for so many seconds at most.

    The framework has one limit for the whole pipeline, after which nothing starts, so that no
    apology could be heard (SETUP_TIMEOUT_SECS of pipecat.pipeline.worker, checked with 1.14).
    A setup() that fails is a permanent error of one part, and the others start. A switcher
    waits for all its services.
    """
    for part in pipeline.processors:
        if isinstance(part, ServiceSwitcher):
            limit_connecting(part, SWITCH_TIMEOUT)
        elif part.entry_processors:
            limit_connecting(part, seconds)
        else:
            _limit_connecting_of(part, seconds)


def _limit_connecting_of(part: FrameProcessor, seconds: float) -> None:
    connect = part.setup

    async def setup(setup: FrameProcessorSetup):
        try:
            async with asyncio.timeout(seconds):
                await connect(setup)
        except TimeoutError as e:
            raise TimeoutError("not connected") from e

    part.setup = setup
