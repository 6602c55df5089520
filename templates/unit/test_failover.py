"""Another service takes over, and goes on where the first one has stopped."""

import asyncio
from typing import Any

import pytest
from pipecat.adapters.llm.base_llm_adapter import LLMContextConversionError
from pipecat.frames import frames
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frame_processor import FrameDirection
from pipecat.utils.errors import ErrorCategory
from pipecat.workers.runner import WorkerRunner

from fakes import Ears, Model, Voice, passing
from vbot import LanguageModelFailover, SpeechToTextFailover, TextToSpeechFailover, failover

DOWN = FrameDirection.DOWNSTREAM
QUESTION = frames.LLMContextFrame(LLMContext([{"role": "user", "content": "Where?"}]))
START, END = frames.LLMFullResponseStartFrame, frames.LLMFullResponseEndFrame
STARTED, STOPPED = frames.VADUserStartedSpeakingFrame, frames.VADUserStoppedSpeakingFrame


def run(pipeline: list[Any], *given: Any) -> None:
    """Run a pipeline that is given these frames, or waits for so many seconds."""

    async def session() -> None:
        worker = PipelineWorker(Pipeline(pipeline))
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(worker)
        running = asyncio.create_task(runner.run())
        for step in (1, *given, 5):
            if isinstance(step, int | float):
                await asyncio.sleep(step)
            else:
                await worker.queue_frame(step)
        await worker.cancel()
        await running

    passing(session())


@pytest.mark.parametrize("fault", ["fails", "is refused"])
def test_a_model_that_fails(fault: str, log: list[str]) -> None:
    first, second, voice = Model(fault), Model("answers"), Voice()
    run([LanguageModelFailover(first, second), voice], QUESTION)
    assert (first.asked, second.asked) == (1, 1)
    assert voice.said[-1] == "Here I am."
    assert f"{second.name} takes over from {first.name}: no" in log


def test_all_models_fail() -> None:
    first, second = Model("fails"), Model("fails")
    run([LanguageModelFailover(first, second)], QUESTION, 2, QUESTION)
    assert first.asked + second.asked == 3  # neither is asked again before it has rested


def test_a_model_that_is_late() -> None:
    async def session() -> None:
        first, second, voice = Model("hangs"), Model("answers"), Voice()
        switcher = LanguageModelFailover(first, second)
        worker = PipelineWorker(Pipeline([switcher, voice]))
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(worker)
        running = asyncio.create_task(runner.run())
        await worker.queue_frame(QUESTION)
        await asyncio.sleep(1)
        assert await switcher.take_over("has not answered for 12 s")
        await asyncio.sleep(1)
        assert voice.said == ["Here I am."]
        assert not await switcher.take_over("also late")  # the first one has not rested
        await asyncio.sleep(failover.RESTS_FOR)
        await worker.cancel()
        await running

    passing(session())


async def test_an_error_in_a_tool_is_not_the_models() -> None:
    first, second = Model(), Model()
    strategy = LanguageModelFailover(first, second).strategy
    error = frames.ErrorFrame("of a tool", processor=first, category=ErrorCategory.APPLICATION)
    assert await strategy.handle_error(error) is None
    assert strategy.active_service is first


@pytest.mark.parametrize(
    "text, options, about_a_file",
    [
        ("cannot map", {"exception": LLMContextConversionError(ValueError("file"))}, True),
        ("Error during completion: 400", {"category": ErrorCategory.APPLICATION}, True),
        ("Error executing function call [x]: 1", {"category": ErrorCategory.APPLICATION}, False),
        ("Error during completion: 400", {"category": ErrorCategory.INVALID_REQUEST}, False),
        ("Error during completion: 500", {"category": ErrorCategory.SERVER}, False),
        ("Error during completion: 401", {"exception": ValueError("no")}, False),
    ],
)
async def test_a_broken_file_is_not_the_models(text: str, options: Any, about_a_file: bool) -> None:
    first, second = Model(), Model()
    error = frames.ErrorFrame(text, processor=first, **options)
    assert failover.is_about_a_file(error) is about_a_file
    strategy = LanguageModelFailover(first, second).strategy
    is_own = not about_a_file and error.category is not ErrorCategory.APPLICATION
    switched = await strategy.handle_error(error) if not is_own else second
    assert (switched is None) is not is_own
    no_model = frames.ErrorFrame(text, processor=Voice(), category=ErrorCategory.APPLICATION)
    assert not failover.is_about_a_file(no_model)


async def test_a_model_that_is_interrupted_owes_nothing() -> None:
    it = LanguageModelFailover(Model(), Model())
    it.is_given(QUESTION, DOWN)
    assert [frame for frame, _ in it.undone()] != []
    it.is_given(frames.InterruptionFrame(), DOWN)
    assert it.undone() == []


def heard(number: int) -> frames.InputAudioRawFrame:
    return frames.InputAudioRawFrame(bytes([number]) * 640, 16000, 1)


async def test_other_ears_hear_what_was_said_since_the_last_transcript() -> None:
    it = SpeechToTextFailover(Ears(), Ears())
    for number in range(100):
        it.is_given(heard(number), DOWN)
    assert it.undone() == []  # nobody has spoken
    start = STARTED()
    for frame in (start, heard(200), heard(201)):
        it.is_given(frame, DOWN)
    again = [frame for frame, _ in it.undone()]
    sound = [frame.audio[0] for frame in again if isinstance(frame, frames.InputAudioRawFrame)]
    assert sound == [*range(50, 100), 200, 201]  # with a second before
    assert not {frame.id for frame in again} & {start.id}  # copies
    it.has_made(frames.TranscriptionFrame("Hello", "", ""))
    it.is_given(heard(202), DOWN)
    again = [type(frame) for frame, _ in it.undone()]
    assert again == [STARTED, frames.InputAudioRawFrame]  # the person goes on
    it.is_given(STOPPED(), DOWN)
    it.has_made(frames.TranscriptionFrame("there", "", ""))
    assert it.undone() == []


def texts(undone: list[Any]) -> list[str]:
    return [frame.text for frame, _ in undone if hasattr(frame, "text")]


async def test_another_voice_speaks_what_was_not_spoken() -> None:
    it = TextToSpeechFailover(Voice(), Voice())
    it._spoken = 0
    for frame in (START(), frames.LLMTextFrame("It is "), frames.LLMTextFrame("me. And you?")):
        it.is_given(frame, DOWN)
    it._spoken = failover.letters("It is me. An")
    assert texts(it.undone()) == [" And you?"]
    it.is_given(frames.TTSSpeakFrame("One moment."), DOWN)
    it.is_given(frames.InterruptionFrame(), DOWN)
    assert it.undone() == []


async def test_a_voice_that_is_given_whole_clauses() -> None:
    """As from FirstClauseAggregator, with Ollama."""
    it = TextToSpeechFailover(Voice(), Voice())
    it.is_given(START(), DOWN)
    for text in ("It is me.", "And you?"):
        it.is_given(frames.AggregatedTextFrame(text, "sentence"), DOWN)
    it.is_given(END(), DOWN)
    [first, said, last] = [frame for frame, _ in it.undone()]
    assert isinstance(first, START) and isinstance(last, END)
    assert said.text == "It is me. And you? "  # type: ignore


@pytest.mark.parametrize(
    ("text", "spoken", "left"),
    [
        ("It is me. And you?", "", "It is me. And you?"),
        ("It is me. And you?", "It is m", "It is me. And you?"),
        ("It is me. And you?", "It is me", " And you?"),
        ("It is me. And you?", "It is me. And you", ""),
    ],
)
def test_the_first_sentence_that_was_not_spoken(text: str, spoken: str, left: str) -> None:
    assert failover.unspoken(text, failover.letters(spoken)) == left
