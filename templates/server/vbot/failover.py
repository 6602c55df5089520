"""Lets another service take over from one that fails during a session: RECIPES.md says how.

A strategy of the framework switches only from a service that will never work again, such as one
whose key is refused (checked with 1.14). Here, each error switches, and each delay that
monitor.py notes. The next service is then given what the first one has left undone.
"""

import re
import sys
import time
from collections import deque
from dataclasses import dataclass, replace

from loguru import logger
from pipecat.adapters.llm.base_llm_adapter import LLMContextConversionError
from pipecat.frames.frames import (
    AggregatedTextFrame,
    BotStoppedSpeakingFrame,
    ErrorFrame,
    Frame,
    InputAudioRawFrame,
    InterruptionFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    ManuallySwitchServiceFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    TTSStartedFrame,
    TTSStoppedFrame,
    TTSTextFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.llm_switcher import LLMSwitcher
from pipecat.pipeline.service_switcher import ServiceSwitcher, ServiceSwitcherStrategyManual
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.llm_service import LLMService
from pipecat.utils.errors import ErrorCategory
from pipecat.utils.string import match_endofsentence

RESTS_FOR = 60  # seconds after its failure before a service is used again
LISTENS_AGAIN = 1000  # pieces of speech, 20 ms each, that another service hears at most
LEAD_IN = 50  # pieces before the speech

# How the framework begins the error of a tool, whose category is that of a broken file (1.14).
TOOL_FAILED = "Error executing function call"

DOWN = FrameDirection.DOWNSTREAM
Directed = tuple[Frame, FrameDirection]


def is_about_a_file(error: ErrorFrame) -> bool:
    """Whether a language model failed because of a file or an image that a person sent.

    The framework has then removed it from the context, so that the next request works.
    """
    if isinstance(error.exception, LLMContextConversionError):
        return True
    is_model = isinstance(error.processor, LLMService)
    of_content = is_model and error.category is ErrorCategory.APPLICATION
    return of_content and not error.error.startswith(TOOL_FAILED)


# How models say that a request has more tokens than they read (OpenAI, Anthropic, Google, Ollama,
# llama.cpp, as of November 2026).
TOO_LONG = re.compile(
    r"context_length_exceeded|maximum context length|(prompt|input) (is )?too long"
    r"|exceeds? the (available |maximum )?(context|number of tokens)|exceed_context_size",
    re.IGNORECASE,
)


def is_too_long(error: ErrorFrame) -> bool:
    """Whether a language model failed because the conversation is longer than it can read."""
    is_model = isinstance(error.processor, LLMService)
    return is_model and bool(TOO_LONG.search(f"{error.error} {error.exception}"))


class FailoverStrategy(ServiceSwitcherStrategyManual):
    """Switches to the first service that has not failed lately."""

    def __init__(self, services: list[FrameProcessor]):
        super().__init__(services)
        self._failed_at: dict[FrameProcessor, float] = {}
        self.switcher: Failover | None = None

    async def handle_error(self, error: ErrorFrame) -> FrameProcessor | None:
        is_own = error.category != ErrorCategory.APPLICATION  # not one of a tool, for example
        if not is_own or is_about_a_file(error):
            return None
        return await self.take_over(error.error)

    async def take_over(self, reason: str) -> FrameProcessor | None:
        """Switch to another service and return it; None if there is none that may work."""
        failed, now = self.active_service, time.monotonic()
        self._failed_at[failed] = now
        for service in self.services:
            rested = now - self._failed_at.get(service, -RESTS_FOR) >= RESTS_FOR
            if service.is_usable and (rested or not failed.is_usable):
                logger.warning(f"{service.name} takes over from {failed.name}: {reason}")
                await self.handle_frame(ManuallySwitchServiceFrame(service=service), DOWN)
                if self.switcher:
                    await self.switcher.go_on(failed, service)
                return service
        return None


class Failover(ServiceSwitcher[FailoverStrategy]):
    """Several services of one kind, of which one is in use. Subclasses note what it is asked."""

    def __init__(self, *services: FrameProcessor):
        super().__init__(list(services), FailoverStrategy)
        self.strategy.switcher = self
        self._given: set[int] = set()  # ids of frames that stay inside the switcher

    async def take_over(self, reason: str) -> bool:
        """Let another service go on, if there is one that may work."""
        return bool(await self.strategy.take_over(reason))

    async def go_on(self, failed: FrameProcessor, service: FrameProcessor) -> None:
        undone = self.undone()
        if undone:  # the failed one is not to answer late
            stop = InterruptionFrame()
            self._given.add(stop.id)
            await failed.queue_frame(stop)
        for frame, direction in undone:
            await service.queue_frame(frame, direction)

    async def process_frame(self, frame: Frame, direction: FrameDirection):
        self.is_given(frame, direction)
        await super().process_frame(frame, direction)

    async def push_frame(self, frame: Frame, direction: FrameDirection = DOWN):
        if frame.id in self._given:
            self._given.discard(frame.id)
            return
        for passed_on in self.has_made(frame):
            await super().push_frame(passed_on, direction)

    def is_given(self, frame: Frame, direction: FrameDirection) -> None:
        """Note what the service in use is asked."""

    def has_made(self, frame: Frame) -> list[Frame]:
        """Note what it has answered, and return what is passed on."""
        return [frame]

    def undone(self) -> list[Directed]:
        """Return what to ask the next service."""
        return []


class SpeechToTextFailover(Failover):
    """The next service hears what was said since the last transcript."""

    def __init__(self, *services: FrameProcessor):
        super().__init__(*services)
        self._heard: deque[Directed] = deque(maxlen=LISTENS_AGAIN)
        self._start: Directed | None = None  # of what the person is saying
        self._is_speech = False

    def is_given(self, frame: Frame, direction: FrameDirection) -> None:
        match frame:
            case VADUserStartedSpeakingFrame():
                self._start, self._is_speech = (frame, direction), True
            case VADUserStoppedSpeakingFrame():
                self._start = None
            case InputAudioRawFrame():
                pass
            case _:
                return
        self._heard.append((frame, direction))
        if not self._is_speech and len(self._heard) > LEAD_IN:
            self._heard.popleft()

    def has_made(self, frame: Frame) -> list[Frame]:
        if isinstance(frame, TranscriptionFrame):
            self._heard.clear()
            self._is_speech = bool(self._start)
            if self._start:
                self._heard.append(self._start)
        return [frame]

    def undone(self) -> list[Directed]:
        copies = [(replace(frame), way) for frame, way in self._heard if self._is_speech]
        self._given |= {frame.id for frame, _ in copies}
        return copies


class LanguageModelFailover(Failover, LLMSwitcher[FailoverStrategy]):
    """The next model is asked what the first one has not answered to the end."""

    def __init__(self, *services: FrameProcessor):
        super().__init__(*services)
        self._question: LLMContextFrame | None = None
        self._is_repeated = False

    def is_given(self, frame: Frame, direction: FrameDirection) -> None:
        match frame:
            case LLMContextFrame():
                self._question = frame
            case InterruptionFrame():
                self._question = None

    def has_made(self, frame: Frame) -> list[Frame]:
        match frame:
            case LLMFullResponseStartFrame():
                self._is_repeated = False
            case LLMFullResponseEndFrame() if not self._is_repeated:
                self._question = None
        return [frame]

    def undone(self) -> list[Directed]:
        self._is_repeated = bool(self._question)  # the end that comes next is the failed one's
        return [(replace(self._question), DOWN)] if self._question else []


@dataclass
class Utterance:
    """An answer of the model, or the text of a TTSSpeakFrame."""

    text: str = ""
    ended: bool = False
    speak: TTSSpeakFrame | None = None


class TextToSpeechFailover(Failover):
    """The next voice goes on with the first sentence that was not spoken to its end."""

    def __init__(self, *services: FrameProcessor):
        super().__init__(*services)
        self._utterances: list[Utterance] = []
        self._forget()

    def _forget(self) -> None:
        self._utterances.clear()
        self._spoken = 0  # letters
        self._silent: list[Frame] = []  # words whose sound has not come, and the end after them
        self._until = 0  # when the sound that has come ends, in ns
        self._queued_until = 0  # when the sound of the failed voice does
        self._delay = 0  # by that sound, in ns
        self._is_over = False

    def is_given(self, frame: Frame, direction: FrameDirection) -> None:
        match frame:
            case InterruptionFrame():
                self._forget()
            case BotStoppedSpeakingFrame():
                self._is_over = True
            case LLMFullResponseStartFrame() if not frame.skip_tts:
                self._begin(Utterance())
            case TTSSpeakFrame():
                self._begin(Utterance(frame.text, ended=True, speak=frame))
            case LLMTextFrame() if self._utterances and not frame.skip_tts:
                self._utterances[-1].text += frame.text
            case AggregatedTextFrame() if self._utterances and not frame.skip_tts:
                self._utterances[-1].text += frame.text + " "
            case LLMFullResponseEndFrame() if self._utterances:
                self._utterances[-1].ended = True

    def _begin(self, utterance: Utterance) -> None:
        if self._is_over:
            self._forget()
        self._utterances.append(utterance)

    def has_made(self, frame: Frame) -> list[Frame]:
        """Pass words on after their sound: a service may send them long before."""
        match frame:
            case TTSStartedFrame():
                words = self._sounded(sys.maxsize)  # of which no sound has come
                self._until = self._delay = 0
                return [*words, frame]
            case TTSTextFrame() | LLMFullResponseEndFrame():
                self._silent.append(frame)
                return self._sounded(self._until)
            case TTSAudioRawFrame():
                if not self._until:
                    self._until = self.get_clock().get_time()
                    self._delay = max(0, self._queued_until - self._until)
                seconds = len(frame.audio) / 2 / frame.num_channels / frame.sample_rate
                self._until += int(seconds * 1e9)
                return [frame, *self._sounded(self._until)]
            case TTSStoppedFrame() if frame.pts:
                frame.pts += self._delay
        return [frame]

    def _sounded(self, until: int) -> list[Frame]:
        frames: list[Frame] = []
        while self._silent and self._has_sounded(self._silent[0], until):
            frames.append(frame := self._silent.pop(0))
            self._spoken += letters(frame.text) if isinstance(frame, TTSTextFrame) else 0
            frame.pts = frame.pts and frame.pts + self._delay
        return frames

    def _has_sounded(self, frame: Frame, until: int) -> bool:
        return isinstance(frame, LLMFullResponseEndFrame) or (frame.pts or 0) < until

    def undone(self) -> list[Directed]:
        spoken, utterances = self._spoken, list(self._utterances)
        until = self._until + self._delay
        self._forget()
        self._queued_until = until
        frames: list[Frame] = []
        for one in utterances:
            count = letters(one.text)
            one.text = unspoken(one.text, spoken)
            spoken = max(0, spoken - count)
            if one.ended and not letters(one.text):
                continue
            self._utterances.append(one)
            if one.speak:
                frames.append(replace(one.speak, text=one.text))
            else:
                frames += [LLMFullResponseStartFrame(), LLMTextFrame(one.text)]
                frames += [LLMFullResponseEndFrame()] if one.ended else []
        return [(frame, DOWN) for frame in frames]


def letters(text: str) -> int:
    """Count letters and digits, because services change spaces and punctuation."""
    return sum(map(str.isalnum, text))


def unspoken(text: str, spoken: int) -> str:
    """Return the text from the first sentence that was not spoken to its end."""
    while (end := match_endofsentence(text)) and letters(text[:end]) <= spoken:
        text, spoken = text[end:], spoken - letters(text[:end])
    return text
