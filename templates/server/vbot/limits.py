"""Limits what one session may cost: what a page sends, and what the language model is asked.

A page of a stranger sends whatever the protocol of the pages (RTVI) has, as fast as it likes. What
is refused is said on the page. The limits are variables of .env, with defaults that no person
meets; deploy/README.md lists them.
"""

import contextlib
import os
from collections import deque
from collections.abc import Callable
from typing import Any

from loguru import logger
from pipecat.frames.frames import (
    ErrorFrame,
    Frame,
    InputAudioRawFrame,
    InputTransportMessageFrame,
    LLMContextFrame,
    TextFrame,
)
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators import async_tool_messages
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.processors.frameworks.rtvi.models import ClientMessage
from pipecat.services.llm_service import LLMService

from vbot.failover import is_too_long
from vbot.monitor import now, processors_of

DEFAULTS = {
    "MAX_MESSAGE_CHARS": 4000,  # characters of one typed message
    "MAX_MESSAGES_PER_MINUTE": 30,  # typed messages and files
    "MAX_CONTEXT_CHARS": 100_000,  # of a conversation; an hour of speech has about half as many
    "MAX_MODEL_REQUESTS": 1000,  # of a session; one each 3.6 seconds for an hour
    "MAX_FILES": 10,  # of a session
    "MAX_FILE_BYTES": 5_000_000,  # of one file
}

# Samples a second of sound that a page may send: those of telephones to those of studios.
RATES = range(8000, 96_001)

# What an image, a file or a piece of sound counts in a context, which is not its length in base64.
# Models count an image as about a thousand tokens, of four characters each.
MEDIA_CHARS = 4000
MEDIA = ("image_url", "file_base64", "file_url", "input_audio")


def limit(name: str) -> int:
    """Return the value of a limit: that of .env, or the default."""
    return int(os.getenv(name, str(DEFAULTS[name])))


class Limits:
    """The limits of one conversation.

    Args:
        worker: Runs the pipeline.
        source: Where frames of the person enter the pipeline: `transport.input()`.
        end_session: Called with the reason if the model has been asked too often.
    """

    def __init__(
        self,
        worker: PipelineWorker,
        source: FrameProcessor,
        end_session: Callable[[str], None],
    ):
        self._end_session = end_session
        self._sent_at = deque[float]()  # when messages of the last minute came
        self._files = self._requests = 0
        self._logged: set[str] = set()
        self._max_chars = limit("MAX_CONTEXT_CHARS")
        self._chars = 0  # of the last request
        with contextlib.suppress(Exception):  # RTVI may be off
            self._limit_messages(worker.rtvi)
        self._limit_input(source)
        for model in processors_of(worker.pipeline, LLMService):
            self._limit_model(model)
        worker.add_event_handler("on_pipeline_error", self._on_error)

    # Messages of the page.

    def _limit_messages(self, rtvi: Any) -> None:
        process_frame = rtvi.process_frame

        async def process_allowed(frame: Frame, direction: FrameDirection) -> None:
            if not isinstance(frame, InputTransportMessageFrame):
                return await process_frame(frame, direction)
            message: Any = frame.message
            if not isinstance(message, dict):
                return self._log("a message that is no object")
            if not (problem := self.problem_with(message)):
                return await process_frame(frame, direction)
            self._log(problem)
            # For the page, and for programs that wait for an answer.
            await rtvi.send_server_message({"problem": problem})
            sent = ClientMessage(msg_id=str(message.get("id")), type=str(message.get("type")))
            await rtvi.send_error_response(sent, problem)

        rtvi.process_frame = process_allowed

    def problem_with(self, message: dict[str, Any]) -> str:
        """Count a message of the page. Return why it is refused, or "" if it is not."""
        data = message.get("data")
        data = data if isinstance(data, dict) else {}
        match message.get("type"):
            case "send-text" | "llm-function-call-result":
                return self._problem_with_text(data.get("content") or data.get("result"))
            case "send-file":
                return self._problem_with_file(data)
            case "raw-audio" | "raw-audio-batch" if not is_sound(
                data.get("sampleRate"), data.get("numChannels")
            ):
                return "The sound has a sample rate or channels that no microphone has."
        return ""

    def _problem_with_text(self, text: Any) -> str:
        length, most = length_of(text), limit("MAX_MESSAGE_CHARS")
        if length > most:
            return f"The message has {length} characters; MAX_MESSAGE_CHARS is {most}."
        at, most = now(), limit("MAX_MESSAGES_PER_MINUTE")
        while self._sent_at and self._sent_at[0] <= at - 60:
            self._sent_at.popleft()
        if len(self._sent_at) >= most:
            return f"Too many messages: MAX_MESSAGES_PER_MINUTE is {most}."
        self._sent_at.append(at)
        return ""

    def _problem_with_file(self, data: dict[str, Any]) -> str:
        if os.getenv("FILES") != "on":
            return "The bot takes no files: FILES is not on."
        file = data.get("file")
        source = file.get("source") if isinstance(file, dict) else None
        content = source.get("bytes") if isinstance(source, dict) else None
        if not isinstance(content, str):  # this server would fetch a URL, and keep what it gets
            return "The bot takes files, but no addresses of files."
        size, most = len(content) * 3 // 4, limit("MAX_FILE_BYTES")
        if size > most:
            return f"The file has {size} bytes; MAX_FILE_BYTES is {most}."
        if self._files >= (most := limit("MAX_FILES")):
            return f"Too many files: MAX_FILES is {most}."
        if problem := self._problem_with_text(data.get("content")):
            return problem
        self._files += 1
        return ""

    # Frames that a page makes itself, as those of the WebSocket transport do.

    def _limit_input(self, source: FrameProcessor) -> None:
        push_frame = source.push_frame

        async def push_allowed(
            frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM
        ) -> None:
            match frame:
                case InputAudioRawFrame(sample_rate=rate, num_channels=channels):
                    refused = not is_sound(rate, channels)
                case TextFrame(text=text):
                    refused = len(text) > limit("MAX_MESSAGE_CHARS")
                case _:
                    refused = False
            if refused:
                self._log(f"{type(frame).__name__} of the page")
            else:
                await push_frame(frame, direction)

        source.push_frame = push_allowed

    # Requests to the model.

    def _limit_model(self, model: LLMService) -> None:
        process_frame = model.process_frame

        async def process_allowed(frame: Frame, direction: FrameDirection) -> None:
            if isinstance(frame, LLMContextFrame):
                if not self._may_ask():
                    return
                self._shorten(frame.context)
            await process_frame(frame, direction)

        model.process_frame = process_allowed

    def _may_ask(self) -> bool:
        self._requests += 1
        most = limit("MAX_MODEL_REQUESTS")
        if self._requests == most + 1:
            problem = f"The model was asked {most} times in one session: MAX_MODEL_REQUESTS."
            logger.warning(problem)
            self._end_session(problem)
        return self._requests <= most

    async def _on_error(self, worker: PipelineWorker, error: ErrorFrame) -> None:
        """Ask a model with half as much if it could not read what it got."""
        if is_too_long(error):
            self._max_chars = max(1, self._chars // 2)

    def _shorten(self, context: LLMContext) -> None:
        messages = context.messages
        kept = newest(messages, self._max_chars)
        self._chars = length_of(kept)
        if len(kept) < len(messages):
            context.set_messages(kept)
            if "context" not in self._logged:
                self._logged.add("context")
                logger.info("The model no longer gets the oldest turns: MAX_CONTEXT_CHARS")

    def _log(self, problem: str) -> None:
        """Log what is refused, once of each kind: a stranger may repeat it all day."""
        kind = "".join(char for char in problem if not char.isdecimal())
        if kind not in self._logged:
            self._logged.add(kind)
            logger.warning(f"Refused: {problem}")


def is_sound(rate: Any, channels: Any) -> bool:
    """Whether a microphone may have made sound with this sample rate and number of channels."""
    return type(rate) is int and rate in RATES and type(channels) is int and channels in (1, 2)


def newest(messages: list[Any], max_chars: int) -> list[Any]:
    """Return messages of a context without its oldest turns, so that it is not too long.

    A turn begins with what the person says. It is there or not, so that no tool call is without
    its result. The instruction and the newest turn are always there, and so are turns with a tool
    that is still running, or whose result came later.
    """
    if length_of(messages) <= max_chars:
        return messages
    begins = next((i for i, message in enumerate(messages) if not is_instruction(message)), 0)
    turns: list[list[Any]] = [[]]
    for message in messages[begins:]:
        if role_of(message) == "user":
            turns.append([])
        turns[-1].append(message)
    left = max_chars - length_of(messages[:begins]) - length_of(turns[-1])
    kept, is_full = [turns[-1]], left < 0
    needed = calls_in(turns[-1]) | running_calls(messages)
    for turn in reversed(turns[:-1]):
        length, calls = length_of(turn), calls_in(turn)
        is_full = is_full or length > left
        if not is_full or calls & needed:
            left -= length
            needed |= calls
            kept.append(turn)
        else:
            # An instruction in between, such as a summary, remains.
            kept.append([message for message in turn if role_of(message) == "system"])
    return messages[:begins] + [message for turn in reversed(kept) for message in turn]


def role_of(message: Any) -> str:
    """Return who a message is from; "" if only one service can read it."""
    return message.get("role", "") if isinstance(message, dict) else ""


def is_instruction(message: Any) -> bool:
    return role_of(message) in ("system", "developer")


def calls_in(messages: list[Any]) -> set[str]:
    """Return the ids of the tool calls that messages make, or have a result of."""
    found = set[str]()
    for message in messages:
        match message:
            case {"tool_calls": list(calls)}:
                found |= {call["id"] for call in calls}
            case {"tool_call_id": str(call)}:
                found.add(call)
            case {"role": "developer"} if payload := async_tool_messages.parse_message(message):
                found.add(payload.tool_call_id)
    return found


def running_calls(messages: list[Any]) -> set[str]:
    """Return the ids of the tool calls whose result is still to come."""
    running = set[str]()
    for message in messages:
        if not role_of(message):
            continue
        if payload := async_tool_messages.parse_message(message):  # of a tool in the background
            ends = payload.status == "finished"
            (running.discard if ends else running.add)(payload.tool_call_id)
        elif message.get("role") == "tool" and message.get("content") == "IN_PROGRESS":
            running.add(message["tool_call_id"])
    return running


def length_of(value: Any) -> int:
    """Return the number of characters in a part of a context."""
    match value:
        case str() | bytes():
            return len(value)
        case {"type": kind} if kind in MEDIA:
            return MEDIA_CHARS
        case dict():
            return sum(length_of(part) for part in value.values())
        case list() | tuple():
            return sum(length_of(part) for part in value)
    # A message in the form of one service is an object that holds it.
    inner = getattr(value, "message", None)
    return length_of(inner) if inner is not None else 0
