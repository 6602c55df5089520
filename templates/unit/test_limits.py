"""A stranger's page cannot spend without bound, and no person meets a limit."""

import asyncio
import base64
from typing import Any
from unittest import mock

import pytest
from pipecat.frames import frames
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators import async_tool_messages
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.workers.runner import WorkerRunner

from fakes import Line, Model, passing
from vbot import limits, settings

DOWN, UP = FrameDirection.DOWNSTREAM, FrameDirection.UPSTREAM


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*limits.DEFAULTS, "FILES"):
        monkeypatch.delenv(name, raising=False)


class Wire(FrameProcessor):
    """Keeps what goes to the page."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[dict[str, Any]] = []
        self.audio: list[frames.Frame] = []

    async def process_frame(self, frame: frames.Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        match frame:
            case frames.OutputTransportMessageUrgentFrame(message=dict(message)):
                self.messages.append(message)
            case frames.InputAudioRawFrame():
                self.audio.append(frame)
        await self.push_frame(frame, direction)

    def problems(self) -> list[str]:
        found = [m["data"] for m in self.messages if m["type"] == "server-message"]
        return [data["problem"] for data in found if "problem" in data]


class Visit:
    """A visit of a page that sends what it likes."""

    def __init__(self, model: Model | None = None) -> None:
        self.line, self.model, self.wire = Line(), model or Model("answers"), Wire()
        self.context = LLMContext([])
        self.user, self.assistant = LLMContextAggregatorPair(self.context)
        parts = [self.line.input(), self.user, self.model, self.wire, self.assistant]
        self.worker = PipelineWorker(Pipeline(parts))
        self.ended: list[str] = []
        self.limits = limits.Limits(self.worker, self.line.input(), self.ended.append)

    async def send(self, type: str, data: Any, wait: float = 1) -> None:
        message = {"label": "rtvi-ai", "type": type, "id": "1", "data": data}
        await self.send_raw(message, wait)

    async def send_raw(self, message: Any, wait: float = 1) -> None:
        frame = frames.InputTransportMessageFrame(message=message)
        await self.line.input().push_frame(frame, UP)
        await asyncio.sleep(wait)

    async def type(self, text: str, wait: float = 1) -> None:
        options = {"run_immediately": True, "audio_response": False}
        await self.send("send-text", {"content": text, "options": options}, wait)


def visit(do: Any, model: Model | None = None) -> Visit:
    it: list[Visit] = []

    async def main() -> None:
        it.append(Visit(model))
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(it[0].worker)

        async def person() -> None:
            await asyncio.sleep(2)
            await do(it[0])
            await runner.cancel()

        task = asyncio.create_task(person())
        await runner.run()
        await task

    passing(main())
    return it[0]


def test_fast_typist() -> None:
    async def types(it: Visit) -> None:
        for _ in range(60):
            await it.type("x" * 4000, wait=2.01)

    it = visit(types)
    assert it.model.asked == 60
    assert it.wire.problems() == it.ended == []


def test_flood_of_messages(log: list[str]) -> None:
    async def floods(it: Visit) -> None:
        for _ in range(50):
            await it.type("x" * 20_000, wait=0.1)
        for _ in range(50):
            await it.type("Hello?", wait=0.1)
        await asyncio.sleep(60)
        await it.type("Sorry.")

    it = visit(floods)
    assert it.model.asked == 31
    problems = it.wire.problems()
    assert problems[0] == "The message has 20000 characters; MAX_MESSAGE_CHARS is 4000."
    assert problems[-1] == "Too many messages: MAX_MESSAGES_PER_MINUTE is 30."
    assert len(problems) == 70
    errors = [m for m in it.wire.messages if m["type"] == "error-response"]
    assert {error["id"] for error in errors} == {"1"} and len(errors) == 70
    assert len([line for line in log if line.startswith("Refused")]) == 2


def test_limits_of_env(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAX_MESSAGE_CHARS", "10000")
    monkeypatch.setenv("MAX_MESSAGES_PER_MINUTE", "2")

    async def types(it: Visit) -> None:
        for _ in range(3):
            await it.type("x" * 9000)

    it = visit(types)
    assert it.model.asked == 2
    assert it.wire.problems() == ["Too many messages: MAX_MESSAGES_PER_MINUTE is 2."]


def test_requests_of_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAX_MODEL_REQUESTS", "3")

    async def types(it: Visit) -> None:
        for _ in range(6):
            await it.type("Hello?", wait=3)

    it = visit(types)
    assert it.model.asked == 3
    assert it.ended == ["The model was asked 3 times in one session: MAX_MODEL_REQUESTS."]


def test_context_of_a_flood(log: list[str]) -> None:
    lengths: list[int] = []

    async def types(it: Visit) -> None:
        for i in range(60):
            await it.type(f"{i} {'x' * 3900}", wait=2.1)
            lengths.append(limits.length_of(it.context.messages))

    it = visit(types)
    assert it.model.asked == 60
    assert max(lengths) < 101_000
    assert it.context.messages[-2]["content"].startswith("59 ")  # type: ignore
    assert sum("MAX_CONTEXT_CHARS" in line for line in log) == 1


class SmallModel(Model):
    """A model that reads only so much, as one of Ollama does."""

    reads = 6000  # characters

    def __init__(self) -> None:
        super().__init__("answers")
        self.got: list[int] = []

    async def process_frame(self, frame: frames.Frame, direction: FrameDirection) -> None:
        if isinstance(frame, frames.LLMContextFrame):
            self.got.append(limits.length_of(frame.context.messages))
            if self.got[-1] > self.reads:
                await self.push_error("400: the input length exceeds the context length")
                return
        await super().process_frame(frame, direction)


def test_a_model_that_cannot_read_all_gets_less() -> None:
    """What somebody types does not make the questions after it fail, too."""

    async def types(it: Visit) -> None:
        for text in ("x" * 3900, "y" * 3900, "Hello?", "z" * 2000, "Still there?"):
            await it.type(text, wait=3)

    it = visit(types, SmallModel())
    assert isinstance(it.model, SmallModel)
    assert [length > it.model.reads for length in it.model.got] == [False, True] + [False] * 3
    assert it.model.asked == 4


PIXEL = base64.b64encode(b"\x89PNG" + b"0" * 3000).decode()


def file(format: str = "application/pdf", **source: Any) -> dict[str, Any]:
    options = {"run_immediately": True, "audio_response": False}
    return {"content": "?", "file": {"format": format, "source": source}, "options": options}


@pytest.mark.parametrize("format", ["image/png", "application/pdf"])
def test_files_are_off(format: str) -> None:
    async def sends(it: Visit) -> None:
        await it.send("send-file", file(format, type="bytes", bytes=PIXEL))
        await it.send("send-file", file(format, type="url", url="https://example.com/50-MB"))

    it = visit(sends)
    assert it.model.asked == 0
    assert it.context.messages == []
    assert it.wire.problems() == ["The bot takes no files: FILES is not on."] * 2


def test_files_are_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FILES", "on")
    monkeypatch.setenv("MAX_FILES", "2")

    async def sends(it: Visit) -> None:
        await it.send("send-file", file(type="url", url="https://example.com/50-MB"))
        await it.send("send-file", file(type="bytes", bytes="A" * 7_000_000))
        for _ in range(3):
            await it.send("send-file", file(type="bytes", bytes=PIXEL), wait=3)

    it = visit(sends)
    assert it.model.asked == 2
    assert it.wire.problems() == [
        "The bot takes files, but no addresses of files.",
        "The file has 5250000 bytes; MAX_FILE_BYTES is 5000000.",
        "Too many files: MAX_FILES is 2.",
    ]


@pytest.mark.parametrize("data", [None, 7, [], {}, {"file": 7}, {"file": {"source": []}}])
@pytest.mark.parametrize("kind", ["send-text", "send-file", "raw-audio", "dtmf", None, {}])
async def test_broken_messages(data: Any, kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FILES", "on")
    worker = mock.Mock(pipeline=mock.Mock(processors=[]))
    it = limits.Limits(worker, mock.Mock(), mock.Mock())
    assert isinstance(it.problem_with({"type": kind, "data": data}), str)


def test_messages_that_are_no_objects() -> None:
    async def sends(it: Visit) -> None:
        for message in ([], "x", 7, None):
            await it.send_raw(message)
        await it.type("Hello?")

    assert visit(sends).model.asked == 1


@pytest.mark.parametrize(
    "rate, channels, passes",
    [
        (8000, 1, True),
        (16000, 1, True),
        (48000, 2, True),
        (10**9, 1, False),
        (0, 1, False),
        (-8000, 1, False),
        ("16000", 1, False),
        (True, 1, False),
        (None, 1, False),
        (16000.5, 1, False),
        (16000, 0, False),
        (16000, 10**6, False),
    ],
)
def test_sound(rate: Any, channels: Any, passes: bool) -> None:
    sound = base64.b64encode(b"\0" * 640).decode()

    async def sends(it: Visit) -> None:
        data = {"base64Audio": sound, "sampleRate": rate, "numChannels": channels}
        await it.send("raw-audio", data)
        if not channels:
            return  # the framework divides by it
        # The WebSocket transport makes frames of what comes.
        await it.line.input().push_frame(frames.InputAudioRawFrame(b"\0" * 640, rate, channels))
        await asyncio.sleep(1)

    it = visit(sends)
    heard = it.wire.audio
    assert len(heard) == (2 if passes else 0)
    assert len(it.wire.problems()) == (0 if passes else 1)


def test_words_that_a_page_makes_itself() -> None:
    async def sends(it: Visit) -> None:
        for length in (4000, 200_000):
            words = frames.TranscriptionFrame("x" * length, "", "")
            await it.line.input().push_frame(words)
            await asyncio.sleep(10)

    it = visit(sends)
    assert limits.length_of(it.context.messages) < 5000


# What is left out of a context.


def said(role: str, length: int) -> dict[str, Any]:
    return {"role": role, "content": "x" * length}


def call(id: str) -> dict[str, Any]:
    function = {"name": "look", "arguments": "{}"}
    return {
        "role": "assistant",
        "tool_calls": [{"id": id, "function": function, "type": "function"}],
    }


def result(id: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


INSTRUCTION = said("system", 30_000)
GREETING = said("developer", 50)
TURN = [said("user", 100), said("assistant", 200)]


def test_an_hour_of_speech_is_whole() -> None:
    hour = [GREETING, said("assistant", 80)] + TURN * 180  # 150 words a minute
    assert limits.newest(hour, limits.DEFAULTS["MAX_CONTEXT_CHARS"]) is hour


def test_the_instruction_and_the_newest_turn_remain() -> None:
    messages = [INSTRUCTION, GREETING, said("assistant", 80), *TURN * 10, said("user", 90_000)]
    kept = limits.newest(messages, 20_000)
    assert kept == [INSTRUCTION, GREETING, messages[-1]]


def test_a_long_instruction_takes_the_space_of_turns() -> None:
    messages = [INSTRUCTION, *TURN * 1000]
    kept = limits.newest(messages, 40_000)
    assert kept[0] is INSTRUCTION
    assert 38_000 < limits.length_of(kept) <= 40_000
    assert kept[1]["role"] == "user"


def test_a_long_result_of_a_tool() -> None:
    asked = [said("user", 20), call("1"), result("1", "x" * 150_000), said("assistant", 200)]
    assert limits.newest([*TURN * 3, *asked], 100_000)[-4:] == asked
    # It goes with its call.
    assert limits.newest([*asked, *TURN], 100_000) == TURN


@pytest.mark.parametrize("size", range(500, 30_000, 500))
def test_no_half_of_a_call(size: int) -> None:
    messages: list[Any] = [said("assistant", 50)]
    for i in range(20):
        messages += [
            said("user", 100),
            call(f"{i}a"),
            result(f"{i}a", "x" * 300),
            call(f"{i}b"),
            result(f"{i}b", "x" * 300),
            said("assistant", 100),
        ]
    kept = limits.newest(messages, size)
    calls = [m["tool_calls"][0]["id"] for m in kept if "tool_calls" in m]
    assert calls == [m["tool_call_id"] for m in kept if m["role"] == "tool"]
    assert kept[0]["role"] == ("user" if len(kept) < len(messages) else "assistant")
    assert limits.length_of(kept) <= max(size, 1100)


def test_a_tool_that_still_runs() -> None:
    asked = [said("user", 20), call("1"), result("1", "IN_PROGRESS")]
    assert limits.newest([*TURN, *asked, *TURN * 100], 1000)[:3] == asked


def test_a_tool_in_the_background() -> None:
    started: Any = async_tool_messages.build_started_message("1")
    final: Any = async_tool_messages.build_final_result_message("1", "rain")
    asked = [said("user", 20), call("1"), started]
    assert limits.newest([*TURN, *asked, *TURN * 100], 1000)[:3] == asked
    kept = limits.newest([*TURN, *asked, *TURN * 100, final], 1000)
    assert kept[:3] == asked and kept[-1] is final
    kept = limits.newest([*TURN, *asked, *TURN, final, *TURN * 100], 1000)
    assert started not in kept and final not in kept


def test_images_count_as_what_they_cost() -> None:
    url = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 6_000_000}}
    shown = {"role": "user", "content": [{"type": "text", "text": "What is this?"}, url]}
    messages = [shown, said("assistant", 100), *TURN]
    assert limits.newest(messages, 100_000) is messages


def test_environment() -> None:
    assert limits.DEFAULTS.keys() < settings.FORMS.keys()
    examples = {name: int(settings.FORMS[name][1]) for name in limits.DEFAULTS}
    assert examples == limits.DEFAULTS
    assert {name: limits.limit(name) for name in limits.DEFAULTS} == limits.DEFAULTS
