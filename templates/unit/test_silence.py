"""A silent caller is asked, and nobody who is waiting for an answer."""

import asyncio
import re
from typing import Any
from unittest import mock

import pytest
from pipecat.frames import frames
from pipecat.observers.base_observer import FramePushed
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.filters.identity_filter import IdentityFilter
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.llm_service import LLMService
from pipecat.utils.asyncio.task_manager import TaskManager

from fakes import passing
from vbot.silence import RealtimeSilenceMonitor, SilenceMonitor

CONNECTED = frames.ClientConnectedFrame()
BOT = frames.BotStartedSpeakingFrame(), frames.BotStoppedSpeakingFrame()
CALLER = frames.UserStartedSpeakingFrame(), frames.UserStoppedSpeakingFrame()
WORDS = frames.TranscriptionFrame("I am.", "", "")
ANSWERED = frames.LLMFullResponseEndFrame()
TOOL = frames.FunctionCallsStartedFrame(function_calls=[mock.Mock()])
RESULT = frames.FunctionCallResultFrame("look", "1", {}, "rain")
QUESTION, GOODBYE, END = "There?", "Bye.", "END"

Step = float | frames.Frame | bool  # seconds, what is seen, or whether a service owes an answer
Kind = type[SilenceMonitor]

both = pytest.mark.parametrize("kind", [SilenceMonitor, RealtimeSilenceMonitor])


class Line:
    """A call with a bot that needs a second for each sentence."""

    def __init__(self, kind: Kind, speaks: bool, **options: Any) -> None:
        self.said: list[Any] = []  # what, and before it, after how many seconds
        self.owes, self.speaks = False, speaks
        self.tasks = set[asyncio.Task[None]]()
        self.loop = asyncio.get_running_loop()
        worker = mock.Mock(spec=PipelineWorker, queue_frame=self.queue)
        model = mock.Mock(spec=LLMService, queue_frame=self.tell, processors=[])
        worker.pipeline = mock.Mock(processors=[mock.Mock(processors=[model])])
        options = {"question": QUESTION, "goodbye": GOODBYE} | options
        self.monitor = kind(worker, is_waiting=lambda: self.owes, **options)
        worker.add_observer.assert_called_once_with(self.monitor)

    async def see(self, frame: frames.Frame) -> None:
        it = self.monitor
        if isinstance(it, RealtimeSilenceMonitor) and frame in CALLER:
            # It detects speech itself.
            hears = it._on_speech_started if frame is CALLER[0] else it._on_speech_stopped
            return await hears(mock.Mock())
        part = IdentityFilter()
        for direction in FrameDirection:  # as the framework pushes most of them
            await it.on_push_frame(FramePushed(part, part, frame, direction, 0))

    async def speak(self) -> None:
        await asyncio.sleep(0.5)
        await self.see(BOT[0])
        await asyncio.sleep(1)
        await self.see(BOT[1])

    async def queue(self, frame: frames.Frame) -> None:
        text = frame.text if isinstance(frame, frames.TTSSpeakFrame) else END
        self.said.extend([round(self.loop.time() - self.began, 1), text])
        if self.speaks and text != END:
            self.tasks.add(asyncio.create_task(self.speak()))

    async def tell(self, frame: frames.LLMMessagesAppendFrame) -> None:
        """The model is told what to say."""
        [message] = frame.messages
        assert frame.run_llm
        await self.queue(frames.TTSSpeakFrame(*re.findall('"(.*)"', str(message))))

    async def play(self, *script: Step) -> list[Any]:
        await self.monitor.setup(TaskManager())
        self.began = self.loop.time()
        for step in (*script, 60):
            if isinstance(step, bool):
                self.owes = step
            elif isinstance(step, int | float):
                await asyncio.sleep(step)
            else:
                await self.see(step)
        await self.monitor.cleanup()
        return self.said


def told(kind: Kind, *script: Step, speaks: bool = True, **options: Any) -> list[Any]:
    """What is said in the course of the script and in the minute after it, and when."""

    async def call() -> list[Any]:
        return await Line(kind, speaks, **options).play(*script)

    return passing(call())


@both
def test_nothing_is_heard_from_the_beginning(kind: Kind) -> None:
    assert told(kind, CONNECTED) == [10, QUESTION, 21.5, QUESTION, 33, GOODBYE, 35.5, END]


@both
def test_nothing_is_heard_after_the_greeting(kind: Kind) -> None:
    said = told(kind, CONNECTED, 4, BOT[0], 30, BOT[1])
    assert said == [44, QUESTION, 55.5, QUESTION, 67, GOODBYE, 69.5, END]


@both
def test_a_caller_who_cannot_hear_either_is_left(kind: Kind) -> None:
    said = told(kind, CONNECTED, speaks=False)
    assert said == [10, QUESTION, 20, QUESTION, 30, GOODBYE, 40, END]


@both
def test_times_are_arguments(kind: Kind) -> None:
    assert told(kind, CONNECTED, seconds=2, questions=0) == [2, GOODBYE, 4.5, END]
    assert told(kind, CONNECTED, seconds=0) == []


@both
def test_a_caller_who_speaks_for_long(kind: Kind) -> None:
    assert told(kind, CONNECTED, CALLER[0], 30, WORDS, CALLER[1], 9, *BOT, CALLER[0]) == []


@both
def test_a_caller_who_answers(kind: Kind) -> None:
    said = told(kind, CONNECTED, 12, *CALLER, WORDS, 3, BOT[0], 5, BOT[1])
    assert said[:4] == [10, QUESTION, 30, QUESTION]


@both
def test_a_caller_who_answers_the_goodbye(kind: Kind) -> None:
    said = told(kind, CONNECTED, 34, CALLER[0], 1, WORDS, CALLER[1], 2, *BOT)
    assert said[4:8] == [33, GOODBYE, 47, QUESTION]


def test_noise_is_no_answer() -> None:
    said = told(SilenceMonitor, CONNECTED, 2, *CALLER, 13, *CALLER, 1)
    assert said[:4] == [12, QUESTION, 25, QUESTION]


def test_a_tool_takes_its_time() -> None:
    assert told(SilenceMonitor, CONNECTED, *CALLER, WORDS, TOOL, 30, RESULT)[0] == 40


def test_a_service_takes_its_time() -> None:
    """A caller who hears "one moment" or the apology meanwhile is not asked."""
    late = (True, 12, *BOT, 9, *BOT, 20)
    assert told(SilenceMonitor, CONNECTED, *CALLER, WORDS, *late, False, *BOT)[0] == 51


def test_a_model_that_has_nothing_to_say() -> None:
    said = told(SilenceMonitor, CONNECTED, *CALLER, WORDS, True, 8, False, ANSWERED)
    assert said[0] == 18


def test_a_realtime_model_takes_its_time() -> None:
    assert told(RealtimeSilenceMonitor, CONNECTED, *CALLER, 15, *BOT)[0] == 25


def test_a_realtime_model_that_has_nothing_to_say() -> None:
    assert told(RealtimeSilenceMonitor, CONNECTED, 2, *CALLER)[0] == 22
