"""Reports services that fail, hang or stay silent: in the log, on the page and aloud."""

import asyncio
import contextlib
import ctypes
import gc
import math
import signal
import time

from loguru import logger
from pipecat.frames import frames
from pipecat.observers.base_observer import BaseObserver, FrameProcessed, FramePushed
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.processors.frameworks.rtvi.models import Error, ErrorData
from pipecat.services.llm_service import LLMService
from pipecat.services.stt_service import STTService
from pipecat.services.tts_service import TTSService
from pipecat.transports.base_input import BaseInputTransport
from pipecat.utils.errors import ErrorCategory

# How long a service may take, in seconds. The voice gets more than the model it depends on.
CONNECT, TRANSCRIBE, ANSWER, NEXT_WORD = 8, 12, 15, 8
SPEAK, NEXT_SOUND, SHOW = 8, 9, 18
PAGE, FAREWELL = 20, 12  # before a session ends: for a page to load, for the apology to be said

gc.freeze()  # what is loaded by now stays: tidy() need not look at it

REFUSED = "refused the key"
UNANSWERED = f"has not answered for {ANSWER} seconds"
UNSPOKEN = f"has sent no sound for {SPEAK} seconds"

# Which frame makes a service owe something, how soon, and the complaint. None: it owes nothing.
Services = dict[FrameProcessor, tuple[str, str]]
Rules = dict[type[frames.Frame], tuple[float, str] | None]
EARS: Rules = {
    frames.VADUserStartedSpeakingFrame: None,
    frames.VADUserStoppedSpeakingFrame: (TRANSCRIBE, "does not transcribe what is said"),
    frames.InterimTranscriptionFrame: None,
    frames.TranscriptionFrame: None,
}
# A tool may take any time.
PAUSES: Rules = {frames.FunctionCallsStartedFrame: None, frames.InterruptionFrame: None}
MODEL: Rules = PAUSES | {
    frames.LLMContextFrame: (ANSWER, UNANSWERED),
    frames.LLMThoughtTextFrame: (ANSWER, UNANSWERED),
    frames.LLMTextFrame: (NEXT_WORD, "stopped in the middle of an answer"),
    frames.LLMFullResponseEndFrame: None,
}
VOICE: Rules = PAUSES | {
    frames.AggregatedTextFrame: (SPEAK, UNSPOKEN),
    frames.TTSAudioRawFrame: (NEXT_SOUND, "stopped in the middle of a sentence"),
    frames.TTSStoppedFrame: None,
    frames.LLMThoughtTextFrame: None,  # more text may follow, much later
}
SPEECH_TO_SPEECH: Rules = PAUSES | {
    frames.LLMContextFrame: (SHOW, f"has not answered for {SHOW} seconds"),
    frames.TTSAudioRawFrame: (NEXT_SOUND, "stopped in the middle of an answer"),
    frames.SpeechOutputAudioRawFrame: None,  # sent during silence, too
    frames.TTSStoppedFrame: None,
    frames.LLMFullResponseEndFrame: None,
    frames.UserStartedSpeakingFrame: None,
}
AVATAR: Rules = PAUSES | {
    frames.TTSAudioRawFrame: (SHOW, f"has shown nothing for {SHOW} seconds"),
    frames.SpeechOutputAudioRawFrame: None,
    frames.OutputImageRawFrame: None,
}


class Service:
    """A service: what it owes, until when, and what is wrong if that does not come."""

    def __init__(self, rules: Rules, chances: float, label: str, variables: str):
        self.rules, self.label, self.variables = dict(rules), label, variables
        self.chances = self.left = chances  # failures that do not end the session
        self.due, self.what, self.errors = math.inf, "", 0
        self.began = self.spoken = 0.0  # when somebody began to speak, and for how long in all

    def sees(self, frame: frames.Frame) -> None:  # one that it is given, or that it makes
        if type(frame) not in self.rules or not self.counts(frame) or not self.due:
            return
        if rule := self.rules[type(frame)]:
            self.due, self.what = time.monotonic() + rule[0], rule[1]
        elif isinstance(frame, frames.LLMFullResponseEndFrame) and self.what == UNANSWERED:
            self.fails("answered with nothing")
        else:
            self.due, self.what = math.inf, ""

    def counts(self, frame: frames.Frame) -> bool:
        """Whether the frame changes what is owed."""
        match frame:
            case frames.VADUserStartedSpeakingFrame():
                self.began = time.monotonic()
                return False
            case frames.VADUserStoppedSpeakingFrame():  # a cough owes nothing
                self.spoken += time.monotonic() - self.began
                return self.spoken > 1 and self.due == math.inf
            case frames.LLMContextFrame():
                return bool(frame.context.messages)
            case frames.OutputAudioRawFrame():
                self.errors = 0
                self.rules.pop(frames.LLMContextFrame, None)  # it has begun to answer by itself
            case frames.TTSStoppedFrame():
                if self.what == UNSPOKEN:
                    return False
                self.left = self.chances
            case frames.TextFrame():
                self.spoken = self.errors = 0
                letters = any(letter.isalnum() for letter in frame.text)
                return letters and getattr(frame, "will_be_spoken", True) and self.what != UNSPOKEN
        return True

    def fails(self, what: str, ends: bool = False) -> None:
        if self.left >= 0:
            self.due, self.what, self.left = 0, what, 0 if ends else self.left

    def reports(self, error: frames.ErrorFrame) -> None:
        self.errors += 1
        if error.processor and not error.processor.is_usable:
            refused = (ErrorCategory.AUTHENTICATION, ErrorCategory.AUTHORIZATION)
            self.fails(REFUSED if error.category in refused else "does not work", ends=True)
        elif frames.LLMTextFrame in self.rules and error.category != ErrorCategory.APPLICATION:
            self.fails("failed to answer")
        elif self.errors == 25:  # without a connection, each piece of audio is an error
            self.fails("does not work", ends=True)

    def complaint(self) -> str:
        """Say what is wrong, once, and what to check."""
        then = "then start the bot again" if self.what == REFUSED else "the network and the log"
        problem = f"{self.label} {self.what}. Check {self.variables} in server/.env, {then}."
        self.due, self.what, self.left = math.inf, "", self.left - 1
        self.rules = self.rules if self.left >= 0 else {}
        return problem


class Watch(BaseObserver):
    """Watches the services of a session, each given with its label and the variables to check."""

    ends_with_server = False  # whether a stopping server ends sessions at once
    others: list[type[BaseObserver]] = []  # more observers of each session

    def __init__(self, worker: PipelineWorker, services: Services, apology="", page=True):
        super().__init__()
        self._worker, self._apology = worker, apology  # which the voice says
        self._page, self._page_within = asyncio.Event(), PAGE if page else 0  # telephones have none
        self._services: dict[FrameProcessor | None, Service] = {}
        cascade = any(isinstance(processor, TTSService) for processor in services)
        model = (MODEL, math.inf) if cascade else (SPEECH_TO_SPEECH, 0)
        kinds = {STTService: (EARS, math.inf), TTSService: (VOICE, 1), LLMService: model}
        for part, about in services.items():
            rules, chances = next((kinds[k] for k in kinds if isinstance(part, k)), (AVATAR, 0))
            self._services[part] = Service(rules, chances, *about)
            # The others wait until this one is connected. The framework reports a timeout.
            limit = SHOW if rules is AVATAR else CONNECT
            part.setup = lambda setup, do=part.setup, s=limit: asyncio.wait_for(do(setup), s)
        for observer in (self, *(other() for other in self.others)):
            worker.add_observer(observer)
        worker.rtvi.add_event_handler("on_client_ready", lambda rtvi: self._page.set())

    async def setup(self, task_manager) -> None:
        await super().setup(task_manager)
        self._task = self.create_task(self._look())

    async def cleanup(self) -> None:
        await super().cleanup()
        await self.cancel_task(self._task)
        asyncio.get_running_loop().call_later(1, tidy)  # when nothing holds the session any more

    async def on_process_frame(self, data: FrameProcessed) -> None:
        if service := self._services.get(data.processor):
            service.sees(data.frame)

    async def on_push_frame(self, data: FramePushed) -> None:
        error = data.frame if isinstance(data.frame, frames.ErrorFrame) else None
        service = self._services.get(error.processor if error else data.source)
        if data.first_push and service:
            service.reports(error) if error else service.sees(data.frame)
        elif data.first_push and error and isinstance(error.processor, BaseInputTransport):
            await self._worker.cancel()  # for example, it cannot join the room

    async def _look(self) -> None:
        problems, deadline = [], math.inf  # of the session
        while not problems or not self._page.is_set() and time.monotonic() < deadline:
            await asyncio.sleep(0.25)
            server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
            if self.ends_with_server and getattr(server, "should_exit", False):
                await self._worker.cancel()
            for service in self._services.values():
                if time.monotonic() >= service.due:
                    problem = service.complaint()
                    logger.bind(service=service.label).error(problem)
                    if service.left >= 0:
                        await self._tell(problem)
                    else:
                        problems.append(problem)
                        deadline = min(deadline, time.monotonic() + self._page_within)
        await self._tell(" ".join(problems), frames.EndFrame())
        await asyncio.sleep(FAREWELL)
        await self._worker.cancel()

    async def _tell(self, problem: str, *last: frames.Frame) -> None:
        """Tell the page and the person. The interruption frees a service that hangs."""
        if last:
            error = Error(data=ErrorData(error=problem, fatal=True))
            await self._worker.rtvi.push_transport_message(error)
        else:
            await self._worker.rtvi.send_server_message({"problem": problem})
        voice = any(frames.AggregatedTextFrame in s.rules for s in self._services.values())
        said = [frames.TTSSpeakFrame(self._apology)] if voice else []
        await self._worker.queue_frames([frames.InterruptionFrame(), *said, *last])


def tidy() -> None:
    """Give back the memory of a session that is over, whose parts all refer to each other."""
    gc.collect()
    with contextlib.suppress(AttributeError, OSError, TypeError):  # where there is no glibc
        ctypes.CDLL(None).malloc_trim(0)
