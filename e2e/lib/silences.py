"""Tests of silence.py with the framework's frames, which must be installed.

python silences.py, with the folder of silence.py in PYTHONPATH
"""

import asyncio
import re
import unittest
from typing import Any
from unittest import mock

import silence
from pipecat.frames import frames
from pipecat.observers.base_observer import FramePushed
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.filters.identity_filter import IdentityFilter
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.llm_service import LLMService
from pipecat.utils.asyncio.task_manager import TaskManager

from monitoring import Passing

CONNECTED = frames.ClientConnectedFrame()
BOT = frames.BotStartedSpeakingFrame(), frames.BotStoppedSpeakingFrame()
CALLER = frames.UserStartedSpeakingFrame(), frames.UserStoppedSpeakingFrame()
WORDS = frames.TranscriptionFrame("I am.", "", "")
ANSWERED = frames.LLMFullResponseEndFrame()
TOOL = frames.FunctionCallsStartedFrame(function_calls=[mock.Mock()])
RESULT = frames.FunctionCallResultFrame("look", "1", {}, "rain")
QUESTION, GOODBYE, END = "There?", "Bye.", "END"

Step = float | frames.Frame | bool  # seconds, what is seen, or whether a service owes an answer


REALTIME = hasattr(silence, "VADController")


class Case(unittest.IsolatedAsyncioTestCase):
    """A conversation with a bot that needs a second for each sentence: what is said, and when."""

    def _setupAsyncioRunner(self) -> None:
        self._asyncioRunner = asyncio.Runner(loop_factory=Passing)

    async def told(self, *script: Step, speaks: bool = True, **options: Any) -> list[Any]:
        loop = asyncio.get_running_loop()
        said = list[Any]()
        owes = False
        tasks = set[asyncio.Task[None]]()

        async def see(frame: frames.Frame) -> None:
            if REALTIME and frame in CALLER:  # it detects speech by itself
                started, stopped = it._on_speech_started, it._on_speech_stopped  # type: ignore
                await (started if frame is CALLER[0] else stopped)(None)
                return
            part = IdentityFilter()
            for direction in FrameDirection:  # as the framework pushes most of them
                await it.on_push_frame(FramePushed(part, part, frame, direction, 0))

        async def speak() -> None:
            await asyncio.sleep(0.5)
            await see(BOT[0])
            await asyncio.sleep(1)
            await see(BOT[1])

        async def queue(frame: frames.Frame) -> None:
            text = frame.text if isinstance(frame, frames.TTSSpeakFrame) else END
            said.extend([round(loop.time() - began, 1), text])
            if speaks and text != END:
                tasks.add(asyncio.create_task(speak()))

        async def tell(frame: frames.LLMMessagesAppendFrame) -> None:
            [message] = frame.messages
            assert frame.run_llm and isinstance(message, dict)
            said_of_it = re.findall('"(.*)"', str(message["content"]))
            await queue(frames.TTSSpeakFrame(*said_of_it))

        worker = mock.Mock(spec=PipelineWorker, queue_frame=queue)
        model = mock.Mock(spec=LLMService, queue_frame=tell, processors=[])
        worker.pipeline = mock.Mock(processors=[mock.Mock(processors=[model])])
        options = {"question": QUESTION, "goodbye": GOODBYE} | options
        it = silence.SilenceMonitor(worker, is_waiting=lambda: owes, **options)
        self.observes = worker.add_observer.called
        await it.setup(TaskManager())
        began = loop.time()
        for step in (*script, 60):
            if isinstance(step, bool):
                owes = step
            elif isinstance(step, int | float):
                await asyncio.sleep(step)
            else:
                await see(step)
        await it.cleanup()
        return said


class Both(Case):
    async def test_nothing_is_heard_from_the_beginning(self) -> None:
        told = await self.told(CONNECTED)
        assert told == [10, QUESTION, 21.5, QUESTION, 33, GOODBYE, 35.5, END], told

    async def test_nothing_is_heard_after_the_greeting(self) -> None:
        told = await self.told(CONNECTED, 4, BOT[0], 30, BOT[1])
        assert told == [44, QUESTION, 55.5, QUESTION, 67, GOODBYE, 69.5, END], told

    async def test_a_caller_who_cannot_hear_either_is_left(self) -> None:
        told = await self.told(CONNECTED, speaks=False)
        assert told == [10, QUESTION, 20, QUESTION, 30, GOODBYE, 40, END], told

    async def test_times_are_arguments(self) -> None:
        assert await self.told(CONNECTED, seconds=2, questions=0) == [2, GOODBYE, 4.5, END]
        assert await self.told(CONNECTED, seconds=0) == []

    async def test_a_visitor_may_be_silent(self) -> None:
        await self.told(is_call=False)
        assert not self.observes
        await self.told()
        assert self.observes

    async def test_a_caller_who_speaks_for_long(self) -> None:
        assert await self.told(CONNECTED, CALLER[0], 30, WORDS, CALLER[1], 9, *BOT, CALLER[0]) == []

    async def test_a_caller_who_answers(self) -> None:
        told = await self.told(CONNECTED, 12, *CALLER, WORDS, 3, BOT[0], 5, BOT[1])
        assert told[:4] == [10, QUESTION, 30, QUESTION], told

    async def test_a_caller_who_answers_the_goodbye(self) -> None:
        told = await self.told(CONNECTED, 34, CALLER[0], 1, WORDS, CALLER[1], 2, *BOT)
        assert told[4:8] == [33, GOODBYE, 47, QUESTION], told


@unittest.skipIf(REALTIME, "it has no text of what a caller says")
class Cascade(Case):
    async def test_noise_is_no_answer(self) -> None:
        told = await self.told(CONNECTED, 2, *CALLER, 13, *CALLER, 1)
        assert told[:4] == [12, QUESTION, 25, QUESTION], told

    async def test_a_tool_takes_its_time(self) -> None:
        told = await self.told(CONNECTED, *CALLER, WORDS, TOOL, 30, RESULT)
        assert told[0] == 40, told

    async def test_a_service_takes_its_time(self) -> None:
        """A caller who hears "one moment" or the apology meanwhile is not asked."""
        late = (True, 12, *BOT, 9, *BOT, 20)
        told = await self.told(CONNECTED, *CALLER, WORDS, *late, False, *BOT)
        assert told[0] == 51, told

    async def test_a_model_that_has_nothing_to_say(self) -> None:
        told = await self.told(CONNECTED, *CALLER, WORDS, True, 8, False, ANSWERED)
        assert told[0] == 18, told


@unittest.skipUnless(REALTIME, "services answer there, and the monitor knows which owes something")
class Realtime(Case):
    async def test_a_model_takes_its_time(self) -> None:
        told = await self.told(CONNECTED, *CALLER, 15, *BOT)
        assert told[0] == 25, told

    async def test_a_model_that_has_nothing_to_say(self) -> None:
        told = await self.told(CONNECTED, 2, *CALLER)
        assert told[0] == 22, told


if __name__ == "__main__":
    unittest.main()
