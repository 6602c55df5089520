"""Watches over the services of a session: acts on what it knows, and notes what it suspects."""

import asyncio
import contextlib
import time
from enum import Enum

from loguru import logger
from pipecat.frames import frames
from pipecat.observers.base_observer import BaseObserver
from pipecat.pipeline import pipeline
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.processors.frameworks.rtvi.frames import RTVIServerMessageFrame
from pipecat.processors.frameworks.rtvi.models import Error, ErrorData
from pipecat.services import llm_service, stt_service, tts_service
from pipecat.transports.base_input import BaseInputTransport
from pipecat.utils.errors import ErrorCategory

import settings

# Seconds: to connect, until a delay is noted, for a page to load, for the last words.
CONNECT, NOTE, LOAD, FAREWELL = 18, 12, 20, 12
LONGEST = float("inf")  # a session, where a server ends it; see door.py
State = Enum("State", "IDLE OWING LATE MUTED FAILED")
SHOWN = (frames.OutputImageRawFrame, frames.SpeechOutputAudioRawFrame)
WORDS = (frames.LLMTextFrame, frames.LLMThoughtTextFrame, frames.OutputAudioRawFrame)
WORDS += (frames.LLMMarkerFrame, frames.LLMMarkerResponseFrame)  # instead of an answer
ENDS = (frames.LLMFullResponseEndFrame, frames.TTSStoppedFrame, frames.SpeechOutputAudioRawFrame)
# For each kind of service: when somebody waits for it, what it makes then, and the end of that.
EARS = (frames.VADUserStoppedSpeakingFrame, frames.TextFrame, frames.TextFrame)
MODEL = (frames.LLMContextFrame, WORDS, ENDS)  # it may speak itself
VOICE = (frames.AggregatedTextFrame, frames.TTSAudioRawFrame, frames.TTSStoppedFrame)
AVATAR, OTHER = (frames.TTSAudioRawFrame, SHOWN, SHOWN), (None, (), ())
EVENTS = (frames.ClientConnectedFrame, frames.BotStartedSpeakingFrame, EARS[0])
KINDS = {stt_service.STTService: EARS, llm_service.LLMService: MODEL, tts_service.TTSService: VOICE}
# When nobody waits: the person speaks on, a tool works, or the model thinks before it says more.
RESTS = (frames.InterruptionFrame, frames.FunctionCallsStartedFrame, frames.LLMThoughtTextFrame)


class Service:
    """What to call a service, what to check if it fails, and how long a person waits for it."""

    def __init__(self, label: str, variables: str, answers_within: float = 21):
        self.label, self.variables, self.answers_within = label, variables, answers_within
        self.kind, self.state = OTHER, State.IDLE
        self.since = self.worked = self.began = 0.0  # it owes; it worked; a person began to speak
        self.failing = self.failed = 0.0  # the first and the last error of a row
        self.connecting = self.sound = 0.0  # how long it connected; how long a waiting person spoke
        self.came = self.speaks = self.after_tool = self.noted = self.blamed = False

    def sees(self, frame: frames.Frame, made: bool) -> None:
        """Take note of a frame that the service made, or was given."""
        now, (start, part, end) = time.monotonic(), self.kind
        if isinstance(frame, frames.VADUserStartedSpeakingFrame):
            self.began = now
        if isinstance(frame, frames.STTMuteFrame) and self.kind is EARS:
            muted = State.MUTED if frame.mute else State.IDLE
            self.state = State.FAILED if self.state is State.FAILED else muted
        if self.state in (State.MUTED, State.FAILED):
            return
        if type(frame) is start and self._is_asked(frame, now):
            self.state, self.since = State.OWING, now - self.connecting
            self.came, self.noted, self.connecting = False, False, 0.0
        elif made and isinstance(frame, part):
            self.state, self.since, self.worked = State.OWING, now, now
            self.came, self.noted, self.blamed, self.sound, self.failed = True, False, False, 0, 0
            self.speaks |= isinstance(frame, frames.OutputAudioRawFrame)
        elif isinstance(frame, RESTS) and self.kind is not EARS:
            self.state = State.IDLE
        elif made and isinstance(frame, frames.ErrorFrame):
            self.came = self.after_tool = False
            self.failing, self.failed = self.failing if now - self.failed < 2 else now, now
        if made and isinstance(frame, end) and (self.came or self.after_tool):
            self.state = State.IDLE

    def _is_asked(self, frame: frames.Frame, now: float) -> bool:
        match frame:
            case frames.VADUserStoppedSpeakingFrame():
                length, heard = now - self.began, self.worked >= self.began
                self.sound += length if self.state is State.OWING else 0
                return 1 <= length <= 15 and not heard and self.sound == 0  # no noise
            case frames.LLMContextFrame(context=context):
                last = context.messages[-1] if context.messages else None
                self.after_tool = isinstance(last, dict) and last.get("role") == "tool"
                return bool(last) and not self.speaks  # one that speaks answers by itself
            case frames.AggregatedTextFrame(text=text):
                spoken = getattr(frame, "will_be_spoken", True) and any(map(str.isalnum, text))
                return spoken and (self.came or self.state is State.IDLE)
        return self.state is State.IDLE


class Pipeline(pipeline.Pipeline):
    """The framework's, but it goes on without a service that does not connect."""

    async def _setup_processor(self, processor, setup):
        limit = None if processor.entry_processors else CONNECT  # no half of a switcher can go on
        try:
            await asyncio.wait_for(super()._setup_processor(processor, setup), limit)
        except TimeoutError as e:
            await processor.push_error("not connected", e, force_treat_as_permanent=True)


class Watch(BaseObserver):
    """Watches these services, or switchers of services; and all others, for errors alone."""

    def __init__(self, worker, services, apology="", please_wait="", last_minute="", page=True):
        super().__init__()
        self._worker, self._page, self._ready, self._problems = worker, page, asyncio.Event(), ""
        self._apology, self._please_wait, self._last_minute = apology, please_wait, last_minute
        self._services, self._connecting = dict[FrameProcessor, Service](), dict(services)
        for part, service in services.items():
            for member in getattr(part, "services", [part]):  # of a switcher
                self._add(member, service, AVATAR)
        self._voice = next((p for p, s in self._services.items() if s.kind is VOICE), None)
        with contextlib.suppress(Exception):  # RTVI may be off
            worker.rtvi.add_event_handler("on_client_ready", lambda rtvi: self._ready.set())
        worker.add_observer(self)
        worker.add_event_handler("on_pipeline_error", self._on_error)
        worker.add_event_handler("on_setup_timeout", self._on_setup_timeout)

    def _add(self, part: FrameProcessor, service: Service, otherwise=OTHER) -> Service:
        service.kind = next((KINDS[k] for k in KINDS if isinstance(part, k)), otherwise)
        return self._services.setdefault(part, service)

    async def setup(self, task_manager):
        await super().setup(task_manager)
        self._task = self.create_task(self._look())

    async def cleanup(self):
        await super().cleanup()
        await self.cancel_task(self._task)

    async def on_processor_setup(self, data):
        if service := self._connecting.pop(data.processor, None):
            service.connecting = (data.finished_at_ns - data.started_at_ns) / 1e9

    async def on_process_frame(self, data):
        if service := self._services.get(data.processor):
            service.sees(data.frame, made=False)

    async def on_push_frame(self, data):
        if data.first_push and (service := self._services.get(data.source)):
            service.sees(data.frame, made=True)
        if data.first_push and isinstance(data.frame, EVENTS):  # for door.py
            logger.bind(event=type(data.frame).__name__).debug(data.frame.name)

    async def _on_error(self, worker, error):
        """Look at an error that no other service of a switcher made up for."""
        part = error.processor
        if isinstance(part, BaseInputTransport):
            await worker.cancel()  # for example, it cannot join the room
        service = self._add(getattr(part, "services", [part])[0], Service(part.name, "its key"))
        request = error.category != ErrorCategory.APPLICATION  # and not a tool
        lost = service.failed - service.failing > NOTE  # each piece of sound is an error
        if service.state is not State.FAILED and (lost or not part.is_usable):
            key = error.category in (ErrorCategory.AUTHENTICATION, ErrorCategory.AUTHORIZATION)
            what = ("refused the key", "then start the bot again") if key else ("does not work",)
            await self._blame(service, State.FAILED, *what)
        elif service.kind is MODEL and service.state is State.OWING and self._voice and request:
            await self._blame(service, State.LATE, "failed to answer")

    async def _on_setup_timeout(self, worker):
        for service in self._connecting.values():  # a switcher waits for all its services
            await self._blame(service, State.FAILED, "does not connect")

    async def _look(self):
        soon = time.monotonic() + LONGEST - 60
        while not self._problems:
            await asyncio.sleep(0.25)
            if time.monotonic() > soon:  # then the server ends it
                soon, told = float("inf"), {"problem": "This conversation ends in a minute."}
                await self._tell(Service("", ""), told, self._last_minute)
            if settings.STOPPING.is_set():
                await self._worker.cancel()
            for service in set(self._services.values()):
                await self._check(service, time.monotonic())
        with contextlib.suppress(TimeoutError):  # the page may be loading
            await asyncio.wait_for(self._ready.wait(), LOAD if self._page else 0)
        error = Error(data=ErrorData(error=self._problems.strip(), fatal=True)).model_dump()
        last = [frames.OutputTransportMessageUrgentFrame(error), frames.InterruptionFrame()]
        speaks = self._voice and self._services[self._voice].state in (State.IDLE, State.OWING)
        said = [frames.TTSSpeakFrame(self._apology)] if speaks else []  # the interruption frees it
        await self._worker.queue_frames([*last, *said, frames.EndFrame()])
        await asyncio.sleep(FAREWELL if speaks else 1)
        await self._worker.cancel()

    async def _check(self, service: Service, now: float) -> None:
        """Note that a service is late. Say so after the time that a person would wait."""
        models = {s.state for s in self._services.values() if s.kind is MODEL}
        if service.came and service.kind in (VOICE, AVATAR) and models & {State.OWING, State.LATE}:
            service.since = now  # there is no more to say yet
        waited = now - service.since
        what = f"has not {'gone on' if service.came else 'answered'} for {waited:.0f} s"
        if service.state is not State.OWING or waited < NOTE:
            return
        if service.sound > waited / 2:  # nobody waits: a radio plays, or somebody sings
            service.state = State.IDLE
        elif waited >= service.answers_within and not service.blamed:
            await self._blame(service, State.LATE, what)
        elif not service.noted:
            service.noted = True
            logger.bind(waiting=service.label).warning(f"{service.label} {what}")
            await self._tell(service, {"waiting": service.label}, self._please_wait)

    async def _blame(self, service, state, what, then="the network and the log") -> None:
        """Say what is wrong and what to check. End a session that cannot go on."""
        service.state, service.blamed = state, True
        problem = f"{service.label} {what}. Check {service.variables} in server/.env, {then}."
        logger.bind(service=service.label).error(problem)
        ends = state is State.FAILED and service.kind is not OTHER
        if ends or not await self._tell(service, {"problem": problem}, self._apology):
            self._problems += f" {problem}"

    async def _tell(self, service: Service, page: dict[str, str], person: str) -> bool:
        """Tell the page and, unless of the voice, the person. Return False if nobody may know."""
        await self._worker.queue_frame(RTVIServerMessageFrame(data=page))
        voice = None if service.kind in (VOICE, AVATAR) else self._voice
        if voice and person:
            await voice.queue_frame(frames.TTSSpeakFrame(person, append_to_context=False))
        return bool(voice or self._page or service.kind is OTHER)
