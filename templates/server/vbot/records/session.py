"""What happened in one session, as its record says it. schema.json describes the fields."""

import asyncio
import json
import os
import re
import statistics
import tomllib
import uuid
from collections import deque
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipecat.frames.frames import CancelFrame, EndFrame, MetricsFrame
from pipecat.metrics.metrics import (
    LLMUsageMetricsData,
    MetricsData,
    STTUsageMetricsData,
    TTSUsageMetricsData,
)
from pipecat.observers.base_observer import BaseObserver, FramePushed
from pipecat.observers.function_call_observer import (
    FunctionCallEvent,
    FunctionCallEventKind,
    FunctionCallObserver,
)
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.runner import types
from pipecat.services.ai_service import AIService
from pipecat.transports.base_transport import BaseTransport

from vbot import facts, monitor
from vbot.calls import Call, call_of
from vbot.log import Turn
from vbot.presence import present
from vbot.records.folder import Fields, now, rfc3339

if TYPE_CHECKING:
    from vbot.conversation import Conversation

LONGEST = 10_000  # characters of a text, and of a value as JSON
MOST = 5_000  # turns, and tools, of a session; the oldest are left out
SERVER = Path(__file__).parents[2]

# The words for the classes of a session's arguments.
TRANSPORTS = {
    types.DailyRunnerArguments: "daily",
    types.EvalRunnerArguments: "eval",
    types.LiveKitRunnerArguments: "livekit",
    types.SmallWebRTCRunnerArguments: "webrtc",
}

# What an EndFrame or a CancelFrame gives as its reason: the package's own words, and the
# framework's (checked with Pipecat 1.14).
REASONS = {
    "silence": "silence",
    "voicemail": "voicemail",
    "failure": "failure",
    "idle timeout": "silence",
}

# What hosting/ says about the end of a session.
HOSTING = {"time": "time_limit", "stopped": "shutdown", "failed": "failure", "nobody": "person"}

OUTCOMES = {
    FunctionCallEventKind.COMPLETED: True,
    FunctionCallEventKind.FAILED: False,
    FunctionCallEventKind.TIMED_OUT: False,
    FunctionCallEventKind.CANCELLED: False,
}


class Usage:
    """What one service with one model has used. None is what it does not report."""

    def __init__(self, service: str, model: str | None):
        self.fields: Fields = {
            "service": service,
            "model": model,
            "tokens_in": None,
            "tokens_cached": None,
            "tokens_out": None,
            "audio_tokens_in": None,
            "audio_tokens_cached": None,
            "audio_tokens_out": None,
            "characters": None,
            "seconds": None,
        }

    def add(self, name: str, amount: float | None) -> None:
        if amount is not None:
            self.fields[name] = (self.fields[name] or 0) + amount

    def take(self, data: MetricsData) -> None:
        match data:
            case LLMUsageMetricsData(value=used):
                # Some services count cached tokens in `prompt_tokens`, and some do not; the total
                # has them at all.
                all_in = max(used.prompt_tokens, used.total_tokens - used.completion_tokens)
                self.add("tokens_in", all_in)
                self.add("tokens_cached", used.cache_read_input_tokens)
                self.add("tokens_out", used.completion_tokens)
                self.add("audio_tokens_in", used.input_audio_tokens)
                self.add("audio_tokens_cached", used.cache_read_input_audio_tokens)
                self.add("audio_tokens_out", used.output_audio_tokens)
            case TTSUsageMetricsData(value=characters):
                self.add("characters", characters)
            case STTUsageMetricsData(value=used):
                self.add("seconds", used.audio_seconds)

    def rounded(self) -> Fields:
        seconds = self.fields["seconds"]
        return self.fields | {"seconds": None if seconds is None else round(seconds, 3)}


class Record(BaseObserver):
    """Collects what happens in one session.

    Args:
        arguments: Of the session.
        transport: Of the session.
    """

    def __init__(self, arguments: types.RunnerArguments, transport: BaseTransport):
        super().__init__(observe_every_push=False)
        self.arguments = arguments
        self.began = asyncio.get_running_loop().time()
        self.started_at = now()
        self.ended_at: datetime | None = None
        self._lasted = 0.0  # seconds
        self._conversation: Conversation | None = None
        self._presence = present.get()
        self._has_text = has_text(False)
        self._ended_by = ""  # what was known first
        self._is_ending = False
        self._host_says = ""  # hosting/, of the end
        self._problems: list[str] = []
        self._turns: deque[Turn] = deque(maxlen=MOST)
        self._tools: deque[Fields] = deque(maxlen=MOST)
        self._asked: dict[str, FunctionCallEvent] = {}  # calls of tools that run, by their ids
        self._labels: dict[str, str] = {}  # of services, by the names of their processors
        self._models: dict[str, str | None] = {}  # of services, by their labels
        self._usage: dict[tuple[str, str | None], Usage] = {}
        # Known at the start:
        self._session = session_id(arguments)
        self._transport = transport_of(arguments)
        call = call_of(arguments, transport)
        self._direction = direction_of(call)
        self._numbers = numbers_of(arguments, call)
        self._data = data_of(arguments)
        self._language: str | None = None

    def follow(self, conversation: "Conversation", with_transcript: bool) -> None:
        """Collect what happens in the conversation of the session, which begins."""
        self._conversation = conversation
        self._has_text = has_text(with_transcript)
        self._language = conversation.sentences.language
        worker = conversation.worker
        for part, service in conversation.services.items():
            for member in monitor.members_of(part):
                self._labels[member.name] = service.label
                self._models.setdefault(service.label, model_of(member))
        worker.add_observer(self)
        tools = FunctionCallObserver(include_results=True)
        tools.add_event_handler("on_function_call_event", self._on_tool)
        worker.add_observer(tools)
        conversation.log.add_event_handler("on_turn", self._on_turn)
        conversation.monitor.add_event_handler("on_failed", self._on_problem)
        conversation.monitor.add_event_handler("on_late", self._on_problem)
        conversation.transport.add_event_handler("on_client_disconnected", self._on_left)

    # What happens.

    async def on_push_frame(self, data: FramePushed):
        match data.frame:
            case MetricsFrame(data=measured):
                for one in measured:
                    if isinstance(
                        one, LLMUsageMetricsData | TTSUsageMetricsData | STTUsageMetricsData
                    ):
                        self._usage_of(one.processor, one.model or None).take(one)
            case (EndFrame() | CancelFrame()) as frame if not self._is_ending:
                self._is_ending = True
                is_gone = bool(self._presence and self._presence.is_gone)
                self._ended_by = self._ended_by or ("person" if is_gone else reason_of(frame))
                _, _, problem = str(frame.reason).partition("failure: ")
                self._problems += [problem] if problem else []

    def _usage_of(self, processor: str, model: str | None) -> Usage:
        service = self._labels.get(processor, processor)
        return self._usage.setdefault((service, model), Usage(service, model))

    async def _on_turn(self, log: Any, turn: Turn) -> None:
        self._turns.append(turn)

    async def _on_tool(self, observer: FunctionCallObserver, event: FunctionCallEvent) -> None:
        if event.kind is FunctionCallEventKind.IN_PROGRESS:
            self._asked[event.tool_call_id] = event
        elif event.kind in OUTCOMES:
            asked = self._asked.pop(event.tool_call_id, None)
            self._tools.append(self._tool(asked, event))

    def _tool(self, asked: FunctionCallEvent | None, event: FunctionCallEvent) -> Fields:
        began = asked.timestamp if asked else event.timestamp
        return {
            "at": rfc3339(datetime.fromtimestamp(began, now().tzinfo)),
            "name": event.function_name,
            "seconds": round(event.timestamp - began, 3),
            "succeeded": OUTCOMES[event.kind],
            "arguments": plain(asked.arguments) if asked and self._has_text else None,
            "result": plain(event.error or event.result) if self._has_text else None,
        }

    async def _on_problem(self, monitor: Any, service: Any, problem: str) -> None:
        if problem not in self._problems:
            self._problems.append(problem)

    async def _on_left(self, transport: BaseTransport, client: Any) -> None:
        if not self._is_ending:  # otherwise the bot has closed the connection
            self._ended_by = self._ended_by or "person"

    def host_says(self, why: str) -> None:
        """Take note of why hosting/ ended the session."""
        self._host_says = why

    # The end.

    def finish(self, task: "asyncio.Task[Any]") -> None:
        """Take note of the end of the session. The task served it."""
        self.ended_at = now()
        self._lasted = asyncio.get_running_loop().time() - self.began
        error = None if task.cancelled() else task.exception()
        if error:
            self._problems.append(f"{type(error).__name__}: {error}"[:LONGEST])
        self._ended_by = self._why(task, error)

    def _why(self, task: "asyncio.Task[Any]", error: BaseException | None) -> str:
        """Return which of the words for the end of a session fits."""
        if self._conversation:
            transfers = self._conversation.transfers
            if transfers.connected_to and not self._came_back(transfers.connected_at):
                return "fallback" if transfers.is_at_fallback else "transferred"
            if endings := self._conversation.monitor.problems:
                self._problems += [one for one in endings if one not in self._problems]
                return "failure"
        if self._ended_by:
            return self._ended_by
        if self._host_says in HOSTING:
            return HOSTING[self._host_says]
        if error:
            return "failure"
        if not self._is_ending and self._presence and self._presence.is_gone:
            return "person"
        return "shutdown" if task.cancelled() or task.cancelling() else "bot"

    def _came_back(self, since: float) -> bool:
        """Whether the person has spoken with the bot after a transfer, which nobody answered."""
        return any(turn.who == "person" and turn.began_at > since for turn in self._turns)

    # The record.

    def fields(self) -> Fields:
        """Return the record. Before the session has ended, it is that of one that was killed."""
        return self._head() | {
            "turns": [self._turn(turn) for turn in self._turns],
            "latency_seconds": latency(list(self._turns)),
            "tools": list(self._tools),
            "usage": self._used(),
            "recording": None,
            "language": self._language,
            "bot_version": bot_version(),
        }

    def _head(self) -> Fields:
        transfers = self._conversation and self._conversation.transfers
        connected_to = transfers.connected_to if transfers else ""
        failures = transfers.failures if transfers else []
        lasted = round(self._lasted, 3) if self.ended_at else None
        return {
            "id": self._session,
            "started_at": rfc3339(self.started_at),
            "ended_at": rfc3339(self.ended_at) if self.ended_at else None,
            "duration_seconds": lasted,
            "transport": self._transport,
            "direction": self._direction,
            "from": masked(self._numbers.get("from")),
            "to": masked(self._numbers.get("to")),
            "data": self._data,
            "ended_by": self._ended_by if self.ended_at else "interrupted",
            "transferred_to": masked(connected_to or None),
            "problems": [self._without_numbers(one) for one in [*self._problems, *failures]],
        }

    def _used(self) -> list[Fields]:
        """Return what each service has used, also of those that do not report it."""
        reporting = {service for service, _ in self._usage}
        silent = [(one, model) for one, model in self._models.items() if one not in reporting]
        all_of_them = [*self._usage.values(), *(Usage(*one) for one in silent)]
        return [usage.rounded() for usage in all_of_them]

    def _turn(self, turn: Turn) -> Fields:
        return {
            "at": rfc3339(datetime.fromtimestamp(turn.began_at, now().tzinfo)),
            "who": turn.who,
            "text": turn.text[:LONGEST] if self._has_text else None,
            "answered_after_seconds": None if turn.waited is None else round(turn.waited, 3),
            "interrupted": turn.is_interrupted,
        }

    def _without_numbers(self, problem: str) -> str:
        """Mask the numbers of the call in what a carrier's API has said."""
        for number in filter(None, self._numbers.values()):
            problem = problem.replace(number, masked(number) or "")
        return problem


def reason_of(frame: EndFrame | CancelFrame) -> str:
    """Return why a session ends, or "" if whoever cancels it does not say."""
    reason = str(frame.reason or "")
    if reason in REASONS:
        return REASONS[reason]
    if re.match("failure: |fatal error: ", reason) or reason.endswith("can no longer do its job"):
        return "failure"
    return "bot" if isinstance(frame, EndFrame) else ""


def has_text(with_transcript: bool) -> bool:
    """Whether records contain what is said."""
    return os.getenv("RECORDS_TEXT", "true" if with_transcript else "false") == "true"


def session_id(arguments: types.RunnerArguments) -> str:
    """Return the session's id, as logs and recordings have it, fit for the name of a file."""
    id = re.sub(r"[^A-Za-z0-9._-]", "_", arguments.session_id or "")
    return id[:100].lstrip(".") or str(uuid.uuid4())


def transport_of(arguments: types.RunnerArguments) -> str | None:
    """Return the word for the transport, as TRANSPORTS in bot.py has it."""
    if isinstance(arguments, types.WebSocketRunnerArguments):
        return arguments.transport_type
    if facts.is_over_daily(arguments):
        return "daily"
    kinds = (TRANSPORTS[kind] for kind in TRANSPORTS if isinstance(arguments, kind))
    return next(kinds, None)


def direction_of(call: Call | None) -> str | None:
    if not call:
        return None
    return "outbound" if call.is_outgoing else "inbound"


def numbers_of(arguments: types.RunnerArguments, call: Call | None) -> dict[str, str | None]:
    """Return who calls and who is called. A SIP address is one, too."""
    numbers = facts.numbers_of(arguments)
    if call and call.is_outgoing and not numbers.get("to"):
        numbers["to"] = facts.as_dict(arguments.body).get("sip_uri")
    return numbers


def masked(number: str | None) -> str | None:
    """Return a number as RECORDS_NUMBERS wants it."""
    if not number or os.getenv("RECORDS_NUMBERS") != "last4":
        return number or None
    return f"…{number[-4:]}" if len(number) > 4 else "…"


def data_of(arguments: types.RunnerArguments) -> Any:
    """Return what was sent with the session, without numbers, which have fields of their own."""
    if "dialin_settings" in facts.as_dict(arguments.body):
        return None  # Daily's own request, which has a key
    sent = facts.values_of(arguments)
    data = {name: sent[name] for name in sent if name not in ("from_number", "to_number")}
    return plain(data) if data else None


def plain(value: Any) -> Any:
    """Return a value as JSON has it. One that is too long becomes the beginning of its text."""
    try:
        text = json.dumps(value, default=str, ensure_ascii=False)
        if len(text) <= LONGEST:
            return json.loads(text, parse_constant=str)
    except (TypeError, ValueError, RecursionError):
        text = repr(value)
    return f"{text[:LONGEST]}…"


def latency(turns: list[Turn]) -> Fields | None:
    """Return how long the person waited for answers; None if nothing is known of it."""
    waits = sorted(turn.waited for turn in turns if turn.waited is not None)
    if not waits:
        return None
    return {
        "median": round(statistics.median(waits), 3),
        "p95": round(waits[-(-95 * len(waits) // 100) - 1], 3),  # the nearest rank
        "worst": round(waits[-1], 3),
    }


def model_of(service: FrameProcessor) -> str | None:
    """Return the model's name, as the service's figures have it."""
    model = service.settings.model if isinstance(service, AIService) else None
    return model if isinstance(model, str) else None


@cache
def bot_version() -> str | None:
    """Return BOT_VERSION, or the version in pyproject.toml."""
    if version := os.getenv("BOT_VERSION"):
        return version
    try:
        return tomllib.loads((SERVER / "pyproject.toml").read_text())["project"]["version"]
    except (OSError, ValueError, LookupError):
        return None
