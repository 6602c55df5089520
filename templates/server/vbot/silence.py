"""Asks silent callers whether they are still there, and ends the call if they do not answer."""

import asyncio
from collections.abc import Callable

from loguru import logger
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.audio.vad.vad_controller import VADController
from pipecat.clocks.system_clock import SystemClock
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    ClientConnectedFrame,
    EndFrame,
    Frame,
    FunctionCallResultFrame,
    InputAudioRawFrame,
    LLMFullResponseEndFrame,
    TranscriptionFrame,
    TTSSpeakFrame,
    UserIdleTimeoutUpdateFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
)
from pipecat.observers.base_observer import BaseObserver, FramePushed
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessorSetup
from pipecat.services.llm_service import LLMService
from pipecat.turns.user_idle_controller import UserIdleController
from pipecat.utils.asyncio.task_manager import BaseTaskManager

from vbot.instructions import ask_model
from vbot.monitor import processors_of

GOODBYE_LASTS = 1  # seconds after the goodbye in which a caller may still answer


class SilenceMonitor(BaseObserver):
    """Measures how long nobody speaks in a call.

    The framework's UserIdleController has the timer. It does not run while somebody speaks or a
    tool runs. Silence while a service owes an answer does not count.

    Args:
        worker: Runs the pipeline of the call.
        question: Said after each silence but the last.
        goodbye: Said after the last one. Then the call ends.
        seconds: How long each silence lasts; 0 to wait for ever.
        questions: How often to ask.
        is_waiting: Says whether a service owes an answer.
    """

    def __init__(
        self,
        worker: PipelineWorker,
        *,
        question: str,
        goodbye: str,
        seconds: float = 10,
        questions: int = 2,
        is_waiting: Callable[[], bool],
    ):
        super().__init__(observe_every_push=False)
        self._worker, self._is_waiting = worker, is_waiting
        self._question, self._goodbye = question, goodbye
        self._seconds, self._questions = seconds, questions
        self._silences = 0  # since the caller spoke
        self._idle = UserIdleController(user_idle_timeout=seconds)
        self._idle.add_event_handler("on_user_turn_idle", self._on_silence)
        worker.add_observer(self)

    async def setup(self, task_manager: BaseTaskManager):
        await super().setup(task_manager)
        await self._set_up(
            FrameProcessorSetup(
                clock=SystemClock(), task_manager=task_manager, pipeline_worker=self._worker
            )
        )

    async def _set_up(self, setup: FrameProcessorSetup) -> None:
        await self._idle.setup(setup)

    async def cleanup(self):
        await self._idle.cleanup()
        await super().cleanup()

    async def on_push_frame(self, data: FramePushed):
        if data.direction is FrameDirection.DOWNSTREAM:
            await self._see(data.frame)

    async def _see(self, frame: Frame) -> None:
        await self._idle.process_frame(frame)
        match frame:
            case BotStartedSpeakingFrame() if self._silences > self._questions:
                await self._wait_for(GOODBYE_LASTS)
            case TranscriptionFrame():
                await self._caller_spoke()
            case UserStoppedSpeakingFrame():
                await self._idle.wait_for_user()  # noise is not answered
            case ClientConnectedFrame() | LLMFullResponseEndFrame() | FunctionCallResultFrame():
                await self._idle.wait_for_user()  # the bot may have nothing to say

    async def _caller_spoke(self) -> None:
        self._silences = 0
        await self._wait_for(self._seconds)

    async def _wait_for(self, seconds: float) -> None:
        await self._idle.process_frame(UserIdleTimeoutUpdateFrame(timeout=seconds))

    async def _on_silence(self, controller: UserIdleController) -> None:
        if not self._owes_answer():
            if self._silences > self._questions:
                logger.info("The caller says nothing. The call ends.")
                await self._worker.queue_frame(EndFrame(reason="silence"))
                return
            self._silences += 1
            asks = self._silences <= self._questions
            await self._say(self._question if asks else self._goodbye)
        await self._idle.wait_for_user()

    def _owes_answer(self) -> bool:
        return self._is_waiting()

    async def _say(self, sentence: str) -> None:
        await self._worker.queue_frame(TTSSpeakFrame(sentence))


class RealtimeSilenceMonitor(SilenceMonitor):
    """The same for a model that speaks, which is told what to say. If it does not, the call ends.

    Not all of these services say when the caller speaks, so speech is detected here, only for this.
    """

    _answer_is_due = False  # the caller has spoken, and the model not yet

    async def _set_up(self, setup: FrameProcessorSetup) -> None:
        await super()._set_up(setup)
        analyzer = await asyncio.to_thread(SileroVADAnalyzer)  # which loads a model
        self._vad = VADController(analyzer)
        self._vad.add_event_handler("on_speech_started", self._on_speech_started)
        self._vad.add_event_handler("on_speech_stopped", self._on_speech_stopped)
        await self._vad.setup(setup)
        await self._vad.start()

    async def cleanup(self):
        await self._vad.cleanup()
        await super().cleanup()

    async def _see(self, frame: Frame) -> None:
        match frame:
            case InputAudioRawFrame():
                await self._vad.process_frame(frame)
            case TranscriptionFrame():
                await self._idle.process_frame(frame)
            case UserStartedSpeakingFrame() | UserStoppedSpeakingFrame():
                pass  # it is detected here
            case _:
                if isinstance(frame, BotStartedSpeakingFrame):
                    self._answer_is_due = False
                await super()._see(frame)

    async def _on_speech_started(self, vad: VADController) -> None:
        await self._idle.process_frame(UserStartedSpeakingFrame())
        await self._caller_spoke()

    async def _on_speech_stopped(self, vad: VADController) -> None:
        self._answer_is_due = True
        await self._idle.process_frame(UserStoppedSpeakingFrame())
        await self._idle.wait_for_user()

    def _owes_answer(self) -> bool:
        due, self._answer_is_due = self._answer_is_due, False  # wait for it only once
        return super()._owes_answer() or due

    async def _say(self, sentence: str) -> None:
        told = f'The caller says nothing. Say in your language, and nothing else: "{sentence}"'
        for model in processors_of(self._worker.pipeline, LLMService):
            await model.queue_frame(ask_model(told))
