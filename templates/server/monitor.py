"""Notices when a service fails or is late, and tells the person and the log.

Each service of the pipeline has a `Health`, which sees the frames that the service is given and
those that it makes. It says what starts a wait for the service and what ends it; the
`ServiceMonitor` measures the waits. Where to change it:

- How long a person waits for one service: `answers_within` in bot.py.
- Other limits: the constants below.
- A message to Slack or a pager: `monitor.add_event_handler("on_failed", ...)` in bot.py, where
  `monitor` is the ServiceMonitor. `on_late` is the other event.
- Another kind of service: a subclass of `Health`, and its entry in `HEALTH_BY_KIND`.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

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
from pipecat.pipeline.pipeline import Pipeline
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

CONNECT_TIMEOUT = 18  # seconds that a service may take to connect; the framework's limit is 20
NOTED_AFTER = 12  # seconds of waiting, after which a delay is noted, and `please_wait` is said
ERRORS_FOR = 12  # seconds of nothing but errors, after which a service counts as failed
ERRORS_APART = 2  # seconds without an error, after which the next one begins another row
PAGE_LOADS_WITHIN = 20  # seconds that a failure waits for the page which is to show it
APOLOGY_TAKES = 12  # seconds, at most, before a failed session ends
REFUSED = (ErrorCategory.AUTHENTICATION, ErrorCategory.AUTHORIZATION)


@dataclass
class Service:
    """What bot.py says about a service: its name, and what to check in .env if it fails."""

    label: str
    variables: str
    answers_within: float = 21  # seconds, after which the person is told that it is late


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
        self.first_error_at = 0.0  # of a row without an answer in between
        self.last_error_at = 0.0

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
        self.last_error_at = 0.0

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

    def look_again(self) -> None:
        """End the wait, or let it begin later, if nobody really waits though the time is up."""

    def deadline(self) -> float:
        """When the wait will have lasted so long that something is done about it."""
        limit = self.service.answers_within
        return self.waiting_since + (limit if self.noted else min(NOTED_AFTER, limit))

    def waited(self) -> float:
        return now() - self.waiting_since


class SpeechToTextHealth(Health):
    """A person who has spoken for a moment waits for the words.

    The wait starts when they stop, and ends with a transcript. Noise is not speech: sounds of
    less than a second, or of more than 15, start no wait, and neither does a radio, which goes
    on however long nobody answers.
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
    """Who asks the model, be it a person or the result of a tool, waits for its answer.

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
        has_page: Whether the person sees a page. A telephone call ends if a failure cannot be
            told in it.
        on_failed: Called when a service has failed, or is so late that the person was told.
        on_late: Called when a delay is noted.
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
    ):
        super().__init__()
        self._worker = worker
        self._apology, self._please_wait = apology, please_wait
        self._has_page, self._page_is_ready = has_page, asyncio.Event()
        self._healths: dict[FrameProcessor, Health] = {}
        self._unconnected = dict(services)
        self._waits: dict[Health, asyncio.Task[None]] = {}
        self._problems: list[str] = []  # because of which the session ends
        for part, service in services.items():
            members = getattr(part, "services", [part])
            self._add(members, health_of(members[0], service))
        speaking = (p for p, h in self._healths.items() if isinstance(h, TextToSpeechHealth))
        self._tts = next(speaking, None)
        limit_connecting(worker.pipeline)
        for event, handler in (("on_failed", on_failed), ("on_late", on_late)):
            self._register_event_handler(event)
            if handler:
                self.add_event_handler(event, handler)
        worker.add_observer(self)
        worker.add_event_handler("on_pipeline_error", self._on_pipeline_error)
        worker.add_event_handler("on_setup_timeout", self._on_setup_timeout)
        with contextlib.suppress(Exception):  # RTVI may be off
            worker.rtvi.add_event_handler("on_client_ready", lambda _: self._page_is_ready.set())

    def _add(self, members: list[FrameProcessor], health: Health) -> None:
        """Add a service, or the members of a switcher: for a person they are one."""
        self._healths |= dict.fromkeys(members, health)
        models = [one for one in self._healths.values() if isinstance(one, LanguageModelHealth)]
        for one in self._healths.values():
            if isinstance(one, SpeakingHealth):
                one.models = models

    # What the framework tells an observer.

    async def on_processor_setup(self, data: ProcessorSetUp):
        self._unconnected.pop(data.processor, None)
        if health := self._healths.get(data.processor):
            health.connecting_took = (data.finished_at_ns - data.started_at_ns) / 1e9

    async def on_process_frame(self, data: FrameProcessed):
        if health := self._healths.get(data.processor):
            self._see(health, health.is_given, data.frame)

    async def on_push_frame(self, data: FramePushed):
        if data.first_push and (health := self._healths.get(data.source)):
            self._see(health, health.has_made, data.frame)

    async def cleanup(self):
        for task in list(self._waits.values()):
            await self.cancel_task(task)
        await super().cleanup()

    # Waits.

    def _see(self, health: Health, sees: Callable[[Frame], None], frame: Frame) -> None:
        if health.state is State.FAILED:
            return
        sees(frame)
        if health.state is State.WAITING and health not in self._waits:
            self._waits[health] = self.create_task(self._follow(health))

    async def _follow(self, health: Health) -> None:
        """Note that a wait is long. Report it after the time that a person would wait."""
        while health.state is State.WAITING and not self._problems:
            await asyncio.sleep(max(0.0, health.deadline() - now()))
            if health.state is State.WAITING and health.deadline() <= now():
                health.look_again()
            if health.state is not State.WAITING or health.deadline() > now():
                continue
            what = f"has not {'gone on' if health.answering else 'answered'}"
            what = f"{what} for {health.waited():.0f} s"
            if health.waited() < health.service.answers_within:
                await self._note(health, what)
            elif not health.reported:
                await self._report(health, State.LATE, what)
            else:
                health.end_wait()  # the person knows
        del self._waits[health]

    async def _note(self, health: Health, what: str) -> None:
        health.noted = True
        sentence = f"{health.service.label} {what}"
        logger.warning(sentence)
        await self._call_event_handler("on_late", health.service, sentence)
        await self._tell(health, {"waiting": health.service.label}, self._please_wait)

    # Failures.

    async def _on_pipeline_error(self, worker: PipelineWorker, error: ErrorFrame) -> None:
        """Look at an error that no other service of a switcher made up for."""
        part = error.processor
        if not part:
            return
        if isinstance(part, BaseInputTransport):
            await worker.cancel()  # for example, it cannot join the room
        members = getattr(part, "services", [part])
        health = self._healths.get(members[0])
        if not health:  # bot.py says nothing about it
            health = Health(Service(part.name, "its key"))
            self._add(members, health)
        if health.state is State.FAILED:
            return
        if health.is_lost() or not part.is_usable:
            if error.category in REFUSED:
                await self._report(
                    health, State.FAILED, "refused the key", advice="then start the bot again"
                )
            else:
                await self._report(health, State.FAILED, "does not work")
        elif (
            isinstance(health, LanguageModelHealth)
            and health.state is State.WAITING
            and self._tts
            and error.category != ErrorCategory.APPLICATION  # such as an error in a tool
        ):
            await self._report(health, State.LATE, "failed to answer")

    async def _on_setup_timeout(self, worker: PipelineWorker) -> None:
        """A switcher waits for all its services, and the pipeline for the switcher."""
        for part in self._unconnected:
            health = self._healths[getattr(part, "services", [part])[0]]
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
        problem = f"{service.label} {what}. Check {service.variables} in server/.env, {advice}."
        logger.error(problem)
        await self._call_event_handler("on_failed", service, problem)
        if state is State.FAILED and health.ends_session:
            self._end_because(problem)
        elif not await self._tell(health, {"problem": problem}, self._apology):
            if health.ends_session:
                self._end_because(problem)

    def _end_because(self, problem: str) -> None:
        self._problems.append(problem)
        if len(self._problems) == 1:
            self.create_task(self._end_session())

    async def _tell(self, health: Health, to_page: dict[str, str], aloud: str) -> bool:
        """Tell the page, and aloud what can be heard. Return False if nobody can be told."""
        await self._worker.queue_frame(RTVIServerMessageFrame(data=to_page))
        tts = None if health.is_heard else self._tts
        if tts and aloud:
            await tts.queue_frame(TTSSpeakFrame(aloud, append_to_context=False))
        return bool(tts or self._has_page)

    async def _end_session(self) -> None:
        """Tell the page and the person why, and then end the session."""
        if self._has_page:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._page_is_ready.wait(), PAGE_LOADS_WITHIN)
        problems = " ".join(self._problems)
        error = Error(data=ErrorData(error=problems, fatal=True)).model_dump()
        # The interruption frees a voice that is busy.
        last: list[Frame] = [OutputTransportMessageUrgentFrame(error), InterruptionFrame()]
        tts = self._tts and self._healths[self._tts]
        can_speak = tts and tts.state in (State.IDLE, State.WAITING)
        if can_speak:
            last.append(TTSSpeakFrame(self._apology))
        await self._worker.queue_frames([*last, EndFrame()])
        await asyncio.sleep(APOLOGY_TAKES if can_speak else 1)
        await self._worker.cancel()


def limit_connecting(pipeline: FrameProcessor) -> None:
    """Let each part of a pipeline connect for CONNECT_TIMEOUT seconds at most.

    The framework has one limit for the whole pipeline, after which nothing starts, so that no
    apology could be heard (SETUP_TIMEOUT_SECS of pipecat.pipeline.worker, checked with 1.14).
    A setup() that fails is a permanent error of one part, and the others start. A switcher is
    left out: it waits for all its services.
    """
    for part in pipeline.processors:
        if isinstance(part, Pipeline):
            limit_connecting(part)
        elif not part.entry_processors:
            _limit_connecting_of(part)


def _limit_connecting_of(part: FrameProcessor) -> None:
    connect = part.setup

    async def setup(setup: FrameProcessorSetup):
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                await connect(setup)
        except TimeoutError as e:
            raise TimeoutError("not connected") from e

    part.setup = setup
