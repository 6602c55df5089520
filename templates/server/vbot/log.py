"""The log: what happens in a session at INFO, and the framework's own lines at DEBUG."""

import re
import sys
import time
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from loguru import logger
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    ClientConnectedFrame,
    InputAudioRawFrame,
    InterruptionFrame,
    LLMContextAssistantTurnFrame,
    LLMContextUserTurnFrame,
    TTSStartedFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.observers.base_observer import BaseObserver, FramePushed
from pipecat.pipeline.base_pipeline import BasePipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.processors.frameworks.rtvi.frames import RTVISendTextFrame

from vbot.ending import Ending

# Warnings of the framework that need no action, as of Pipecat 1.14.
HARMLESS = (
    "video transceiver is available",  # the page sends no video
    "Media stream error while reading the audio",  # the person has left
    "EndFrame'> is not serializable",  # the conversation has ended
    "Idle timeout detected",  # nobody spoke for long: ending.py says so
    "Idle pipeline detected, cancelling pipeline worker",
    "...and cancelling the runner",
    "ttfs_p99_latency not set",  # how long a service takes for a last word: a default is used
    "is not emitting turn frames",  # the model decides when somebody has finished
    "service is no longer usable, not speaking [",  # quotes the words; monitor.py names it
)
LONGEST = 2000  # characters of a message, and of the text of an exception
END = 300  # of these, characters from the end of the text
REMEMBERS = 3.0  # seconds of sound
QUIET = 50  # root mean square of samples of 16 bits: a quiet line
MOST_DRIFT = 0.01  # between clocks: seconds in a second
MOST_DELAY = 0.3  # seconds that sound is held back
NOTICED_WITHIN = 0.2  # seconds, by which the detector of speech is wrong about its end
TURN_WITHIN = 2.0  # seconds after which a model notices that somebody has finished
A_MINUTE = 20  # warnings of the framework a minute from one line of its code

# Characters with which a text could forge a line or control a terminal, but for the tab: control
# characters, the line separators of Unicode, and those that change the direction of writing.
CONTROLS = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")

LEVELS = ("TRACE", "DEBUG", "INFO", "SUCCESS", "WARNING", "ERROR", "CRITICAL")


def set_up(level: str, as_json: bool = False) -> None:
    """Log to stderr, at this level and above.

    The framework logs many lines, and some contain what people say. Except for warnings and errors,
    they appear only at DEBUG. Any text may come from a stranger, so all are cut and escaped.
    """
    level = {"WARN": "WARNING", "FATAL": "CRITICAL"}.get(level, level)  # names in other libraries
    if level not in LEVELS:
        sys.exit(f"LOG_LEVEL is {level!r}; it must be one of {', '.join(LEVELS)}.")
    logger.remove()
    logger.configure(patcher=make_safe)
    has_all = level in ("DEBUG", "TRACE")
    repeats = Repeats()
    # `diagnose` would add the values of variables, such as keys, to tracebacks.
    logger.add(
        sys.stderr,
        level=level,
        filter=lambda record: (has_all or is_news(record)) and repeats.may_pass(record),
        serialize=as_json,
        diagnose=False,
    )


def is_news(record: Any) -> bool:
    """Whether a line is about the session, or a warning, not about the framework's internals."""
    if any(message in record["message"] for message in HARMLESS):
        return False
    module = record["name"] or ""
    is_internal = module.startswith("pipecat.") and not module.startswith(
        "pipecat.transports.daily"  # logs who joins a room, and its address
    )
    return not is_internal or record["level"].no >= logger.level("WARNING").no


def make_safe(record: Any) -> None:
    """Cut and escape the message of a line, and the texts of its exceptions."""
    record["message"] = shown(record["message"].rstrip("\n"))
    if (given := record["exception"]) and given.value:
        record["exception"] = given._replace(value=safe_exception(given.value))


def shown(text: str, newline: str = "\\n") -> str:
    """Return a text as it may be logged: at most LONGEST characters, in one line.

    Args:
        text: What may come from a stranger.
        newline: In place of a newline.
    """
    escaped = CONTROLS.sub(
        lambda found: newline if found[0] == "\n" else found[0].encode("unicode_escape").decode(),
        cut(text),
    )
    return cut(escaped)


def cut(text: str) -> str:
    """Return a text of at most LONGEST characters: its middle may be left out."""
    if len(text) <= LONGEST:
        return text
    start = LONGEST - END - 50  # with room for how many are left out
    left_out = f"[... {len(text) - start - END} more characters ...]"
    return f"{text[:start]}{left_out}{text[-END:]}"


def safe_exception(value: BaseException, depth: int = 0) -> BaseException:
    """Return an exception whose text, and those of its causes, may be logged.

    Its traceback stays. One that has nothing to cut or to escape is returned as it is. In others,
    the lines of the text are indented, so that none looks like a line of the log.
    """
    try:
        text = str(value)
    except Exception:
        text = ""
    parts = value.exceptions if isinstance(value, BaseExceptionGroup) else ()
    before = (value.__cause__, value.__context__) if depth < 10 else (None, None)
    safe_parts = [safe_exception(part, depth + 1) for part in parts]
    cause = before[0] and safe_exception(before[0], depth + 1)
    is_caused = before[1] is before[0]
    context = cause if is_caused else before[1] and safe_exception(before[1], depth + 1)
    safe_text = shown(text, "\n    ")
    same = all(new is old for new, old in zip(safe_parts, parts, strict=True))
    if safe_text == text and same and cause is before[0] and context is before[1]:
        return value
    kind = type(value)
    name = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    text_of = {"__str__": lambda _: safe_text}
    is_ordinary = isinstance(value, Exception)
    if isinstance(value, BaseExceptionGroup):
        group = ExceptionGroup if is_ordinary else BaseExceptionGroup
        made = type(kind.__name__, (group,), name | text_of)(safe_text, safe_parts)
    else:
        base = Exception if is_ordinary else BaseException
        made = type(kind.__name__, (base,), name | text_of)()
    made.__cause__, made.__context__ = cause, context
    made.__suppress_context__ = value.__suppress_context__
    return made.with_traceback(value.__traceback__)


class Repeats:
    """Limits how often the same place may warn, because strangers can make it do so.

    Lines of this package and of bot.py are not limited. The first line of the next minute says how
    many were left out.

    Args:
        a_minute: How many lines of one place are let through in a minute.
    """

    def __init__(self, a_minute: int = A_MINUTE):
        self._a_minute = a_minute
        self._places: dict[Hashable, SimpleNamespace] = {}

    def may_pass(self, record: Any) -> bool:
        """Whether a line of the log is let through."""
        if not (place := place_of(record)):
            return True
        minute = int(time.monotonic() // 60)
        seen = self._places.setdefault(place, SimpleNamespace(minute=minute, count=0))
        if minute != seen.minute:
            if (more := seen.count - self._a_minute) > 0:
                record["message"] += f" (before: {more} more such lines, left out)"
            seen.minute, seen.count = minute, 0
        seen.count += 1
        return seen.count <= self._a_minute


def place_of(record: Any) -> Hashable:
    """Return the line of code of another package that warns, or None for other lines."""
    if record["level"].no < logger.level("WARNING").no:
        return None
    if other := record["extra"].get("logged_at"):  # see ToLoguru in hosting/runtime.py
        return other
    module = record["name"] or ""
    return (module, record["line"]) if module.startswith("pipecat.") else None


@dataclass(frozen=True)
class Turn:
    """What the person or the bot has said, or the person has typed."""

    who: str  # "person" or "bot"
    began_at: float  # Unix time of its first word
    text: str
    waited: float | None = None  # seconds from the person's last word to the bot's first
    is_interrupted: bool | None = None  # the bot, by the person


class Ear:
    """Knows when there was sound from the person last.

    Whoever detects turns notices the end of speech later, and says only roughly when that was.
    """

    def __init__(self) -> None:
        self._levels = deque[tuple[float, float]]()  # when, and how loud that was
        self._began_at = float("inf")  # when the stream would have begun if it had no gaps
        self._heard = 0.0  # seconds of it

    def hear(self, came_at: float, audio: bytes, rate: int) -> None:
        samples = np.frombuffer(audio[: len(audio) // 2 * 2], np.int16).astype(np.float32)
        if not samples.size:
            return
        at = self._time_of(came_at, samples.size / rate)
        self._levels.append((at, float(np.sqrt(np.mean(samples**2)))))
        while at - self._levels[0][0] > REMEMBERS:
            self._levels.popleft()

    def _time_of(self, came_at: float, seconds: float) -> float:
        """Return when these seconds of sound were over.

        They come in bursts: a resampler holds some of them back. But they are as long as they were.
        """
        self._heard += seconds
        as_it_came = came_at - self._heard
        # The other side's clock may be slower.
        self._began_at = min(self._began_at + seconds * MOST_DRIFT, as_it_came)
        if as_it_came - self._began_at > MOST_DELAY:
            self._began_at = as_it_came  # nothing came for a while
        return self._began_at + self._heard

    def last_sound(self, noticed: float, about: float, within: float) -> float:
        """Return when there was sound last.

        Args:
            noticed: When the end of speech was noticed.
            about: When that end was, by whoever noticed it. This is the result if the line is loud
                all the time, or silent.
            within: Seconds before this, at most.
        """
        loudest = max((level for _, level in self._levels), default=0.0)
        is_loud = max(QUIET, loudest / 20)
        loud = [at for at, level in self._levels if level > is_loud and at <= noticed]
        if not loud or noticed - loud[-1] < 0.1:
            return about
        return max(loud[-1], about - within)


class ConversationLog(BaseObserver):
    """Logs what the person and the bot say in a conversation, and how long the person waits.

    What people say is personal data: without `with_words`, a line only counts the characters.

    The event `on_turn` is called with each Turn, in their order.

    Args:
        worker: Runs the pipeline of bot.py. Only its own processors are logged, not those inside
            them.
        with_words: Whether to log what the person and the bot say.

    Attributes:
        ending: Knows why the conversation ended.
    """

    ending: Ending | None = None

    def __init__(self, worker: PipelineWorker, with_words: bool):
        super().__init__(observe_every_push=False)
        self._register_event_handler("on_turn", sync=True)
        self._parts, self._with_words = parts_of(worker), with_words
        self._started_at = time.monotonic()
        self._unix_time = time.time() - self._started_at  # of the monotonic clock's 0
        self._pipeline_time = float("inf")  # of the pipeline clock's 0, on the monotonic clock
        self._ear = Ear()
        self._first_word_at = 0.0  # of the person; 0 if it is not known
        self._last_word_at = 0.0  # of the person, if their speech is detected here
        self._turn_ended_at = 0.0
        self._asked_at = 0.0  # 0 if there is nothing to answer
        self._answered_at = 0.0  # when the bot's voice began
        self._is_speaking = self._is_interrupted = False
        self._is_aside = False  # what is spoken, or comes next, is not part of the conversation

    async def on_push_frame(self, data: FramePushed):
        if data.frame.broadcast_sibling_id and data.direction is not FrameDirection.DOWNSTREAM:
            return  # the same frame is seen downstream
        now = self._time_of(data)
        match data.frame:
            case InputAudioRawFrame(audio=audio, sample_rate=rate):  # the most frequent
                self._ear.hear(now, audio, rate)
            case ClientConnectedFrame():
                logger.info("Connected")
            case VADUserStartedSpeakingFrame(start_secs=since):
                self._first_word_at = self._first_word_at or now - since
            case UserStartedSpeakingFrame():
                self._first_word_at = self._first_word_at or now
            case VADUserStoppedSpeakingFrame(stop_secs=silence, timestamp=noticed_at):
                noticed = min(now, noticed_at - self._unix_time)
                about = noticed - silence
                self._last_word_at = self._ear.last_sound(noticed, about, NOTICED_WITHIN)
            case UserStoppedSpeakingFrame():
                self._turn_ended_at = self._ear.last_sound(now, now, TURN_WITHIN)
            case LLMContextUserTurnFrame(text=text) if data.source in self._parts:
                self._asked_at = self._last_word_at or self._turn_ended_at
                self._last_word_at = self._turn_ended_at = 0.0
                logger.info(f"Heard {self._shown(text)}")
                began_at, self._first_word_at = self._first_word_at, 0.0
                await self._tell("person", began_at or self._asked_at or now, text)
            case RTVISendTextFrame(text=text):
                self._asked_at = now
                logger.info(f"Read {self._shown(text)}")
                await self._tell("person", now, text)
            case BotStartedSpeakingFrame():
                self._is_speaking, self._is_interrupted = True, False
                self._may_answer(now)
            case TTSStartedFrame(append_to_context=is_answer):
                self._is_aside = not is_answer
                if self._is_speaking:
                    self._may_answer(now)
            case BotStoppedSpeakingFrame():
                self._is_speaking = False
            case InterruptionFrame() if self._is_speaking:
                self._is_interrupted = True
            case LLMContextAssistantTurnFrame(text=text) if data.source in self._parts:
                await self._said(text, now)

    def _time_of(self, data: FramePushed) -> float:
        """Return when a frame was pushed. A busy machine lets observers wait before they see it."""
        now = time.monotonic()
        if not data.timestamp:
            return now
        pushed_at = data.timestamp / 1e9
        # The shortest delay that there has been is next to none.
        self._pipeline_time = min(self._pipeline_time, now - pushed_at)
        return self._pipeline_time + pushed_at

    def _may_answer(self, now: float) -> None:
        """Note when the voice began to answer: "One moment, please." is no answer."""
        if not self._is_aside and self._answered_at <= self._asked_at:
            self._answered_at = now

    async def cleanup(self):
        why = self.ending.in_words() if self.ending else ""
        lasted = f"Ended after {time.monotonic() - self._started_at:.0f} s"
        logger.info(f"{lasted}: {why}" if why else lasted)
        await super().cleanup()

    async def _said(self, text: str, now: float) -> None:
        waited = self._answered_at - self._asked_at if self._asked_at else 0
        done = f"Answered after {waited:.1f} s:" if waited > 0 else "Said"
        end = ", and was interrupted" if self._is_interrupted else ""
        logger.info(f"{done} {self._shown(text)}{end}")
        seconds = waited if waited > 0 else None
        await self._tell("bot", self._answered_at or now, text, seconds, self._is_interrupted)
        self._asked_at = self._answered_at = 0.0
        self._is_interrupted = False

    async def _tell(self, who: str, moment: float, text: str, *of_bot: Any) -> None:
        turn = Turn(who, moment + self._unix_time, text, *of_bot)
        await self._call_event_handler("on_turn", turn)

    def _shown(self, text: str) -> str:
        return repr(text) if self._with_words else f"{len(text)} characters"


def parts_of(worker: PipelineWorker) -> list[FrameProcessor]:
    """Return the processors of bot.py's pipeline, which the framework puts into one of its own."""
    pipelines = (part for part in worker.pipeline.processors if isinstance(part, BasePipeline))
    return [part for pipeline in pipelines for part in pipeline.processors]
