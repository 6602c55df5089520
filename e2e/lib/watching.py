"""The tests of watch.py, with the frames and processors of the framework. They run where that is.

python watching.py, with the folder of watch.py in PYTHONPATH
"""

import asyncio
import unittest
from typing import Any
from unittest import mock

import watch
from loguru import logger
from pipecat.frames import frames
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.llm_service import LLMService
from pipecat.services.settings import LLMSettings, STTSettings, TTSSettings
from pipecat.services.stt_service import STTService
from pipecat.services.tts_service import TTSService
from pipecat.utils.errors import ErrorCategory
from pipecat.workers.runner import WorkerRunner

ASKED = frames.LLMContextFrame(LLMContext([{"role": "user", "content": "Hello?"}]))
WORD = frames.LLMTextFrame("Hello")
ANSWERED = frames.LLMFullResponseEndFrame()
TOOL = frames.FunctionCallsStartedFrame(function_calls=[])
INTERRUPTED = frames.InterruptionFrame()
SOUND = frames.TTSAudioRawFrame(b"\0" * 320, 16000, 1)
FINISHED = frames.TTSStoppedFrame()
SPEAKS = frames.VADUserStartedSpeakingFrame()
PAUSES = frames.VADUserStoppedSpeakingFrame()
HEARD = frames.TranscriptionFrame("Hello", "", "")


def text(words: str, spoken: bool = True) -> frames.AggregatedTextFrame:
    frame = frames.AggregatedTextFrame(words, "sentence")
    frame.will_be_spoken = spoken
    return frame


def error(category: ErrorCategory, usable: bool = True) -> frames.ErrorFrame:
    processor = FrameProcessor()
    asyncio.run(processor.set_usable(usable))
    return frames.ErrorFrame("no", processor=processor, category=category)


class Rules(unittest.TestCase):
    """What each kind of service is blamed for, second by second."""

    def blamed(
        self, rules: watch.Rules, *script: frames.Frame | float, left: float = 9
    ) -> list[str]:
        """What is said in the course of frames and seconds, and in the minute after them."""
        service, now, said = watch.Service(rules, left, "It", "KEY"), 1000.0, []
        with mock.patch.object(watch.time, "monotonic", lambda: now):
            for step in (*script, 60):
                if isinstance(step, frames.ErrorFrame):
                    service.reports(step)
                elif isinstance(step, frames.Frame):
                    service.sees(step)
                for _ in range(int(step * 4) if isinstance(step, int | float) else 1):
                    if now >= service.due:
                        said.append(service.complaint().partition(". Check")[0])
                    now += 0.25 if isinstance(step, int | float) else 0
        return said

    def test_ears(self) -> None:
        silent = ["It does not transcribe what is said"]
        self.assertEqual(self.blamed(watch.EARS, SPEAKS, 2, PAUSES), silent)
        self.assertEqual(self.blamed(watch.EARS, SPEAKS, 2, PAUSES, 5, SPEAKS, 2, PAUSES), silent)
        self.assertEqual(
            self.blamed(watch.EARS, SPEAKS, 0.5, PAUSES, 9, SPEAKS, 0.75, PAUSES), silent
        )
        self.assertEqual(self.blamed(watch.EARS, SPEAKS, 2, PAUSES, 3, HEARD), [])
        self.assertEqual(self.blamed(watch.EARS, SPEAKS, 0.5, PAUSES), [])  # a cough
        self.assertEqual(self.blamed(watch.EARS, 60), [])  # nobody there

    def test_model(self) -> None:
        late = ["It has not answered for 15 seconds"]
        self.assertEqual(self.blamed(watch.MODEL, ASKED), late)
        self.assertEqual(self.blamed(watch.MODEL, ASKED, 6, WORD, 6, WORD, ANSWERED), [])
        self.assertEqual(
            self.blamed(watch.MODEL, ASKED, WORD), ["It stopped in the middle of an answer"]
        )
        self.assertEqual(self.blamed(watch.MODEL, ASKED, ANSWERED), ["It answered with nothing"])
        blank = frames.LLMTextFrame(" \n")
        self.assertEqual(
            self.blamed(watch.MODEL, ASKED, blank, ANSWERED), ["It answered with nothing"]
        )
        self.assertEqual(
            self.blamed(watch.MODEL, ASKED, TOOL, 10, ANSWERED, ASKED, WORD, ANSWERED), []
        )
        self.assertEqual(self.blamed(watch.MODEL, ASKED, 5, INTERRUPTED), [])
        thought = frames.LLMThoughtTextFrame("Hm")
        self.assertEqual(self.blamed(watch.MODEL, ASKED, 14, thought, 14, WORD, ANSWERED), [])
        self.assertEqual(self.blamed(watch.MODEL, 60), [])

    def test_voice(self) -> None:
        self.assertEqual(
            self.blamed(watch.VOICE, text("Hello.")), ["It has sent no sound for 8 seconds"]
        )
        # Such an end comes from the framework.
        self.assertEqual(
            self.blamed(watch.VOICE, text("Hello."), 3, FINISHED),
            ["It has sent no sound for 8 seconds"],
        )
        self.assertEqual(
            self.blamed(watch.VOICE, text("Hello."), 1, SOUND),
            ["It stopped in the middle of a sentence"],
        )
        speech = [step for _ in range(40) for step in (SOUND, 0.5)]
        self.assertEqual(self.blamed(watch.VOICE, text("A tale."), *speech, FINISHED), [])
        self.assertEqual(
            self.blamed(watch.VOICE, text("One."), 5, text("Two."), 5, text("Three.")),
            ["It has sent no sound for 8 seconds"] * 2,
        )
        self.assertEqual(self.blamed(watch.VOICE, text("..."), text("Code", spoken=False)), [])
        self.assertEqual(self.blamed(watch.VOICE, text("Hello."), 1, SOUND, INTERRUPTED), [])
        self.assertEqual(self.blamed(watch.VOICE, text("One moment."), SOUND, TOOL), [])

    def test_speech_to_speech(self) -> None:
        rules = watch.SPEECH_TO_SPEECH
        self.assertEqual(self.blamed(rules, ASKED), ["It has not answered for 18 seconds"])
        self.assertEqual(self.blamed(rules, frames.LLMContextFrame(LLMContext())), [])
        self.assertEqual(
            self.blamed(rules, ASKED, 1, SOUND), ["It stopped in the middle of an answer"]
        )
        self.assertEqual(self.blamed(rules, ASKED, 1, SOUND, FINISHED, ASKED), [])
        lost = error(ErrorCategory.CONNECTIVITY)
        self.assertEqual(self.blamed(rules, *[lost] * 30, left=0), ["It does not work"])
        self.assertEqual(self.blamed(rules, *[lost] * 20, SOUND, FINISHED, *[lost] * 20), [])

    def test_avatar(self) -> None:
        shown = frames.OutputImageRawFrame(b"", (1, 1), "RGB")
        self.assertEqual(self.blamed(watch.AVATAR, SOUND), ["It has shown nothing for 18 seconds"])
        self.assertEqual(self.blamed(watch.AVATAR, SOUND, 3, shown), [])

    def test_errors(self) -> None:
        refused = error(ErrorCategory.AUTHENTICATION, usable=False)
        for rules in (watch.EARS, watch.MODEL, watch.VOICE, watch.SPEECH_TO_SPEECH, watch.AVATAR):
            self.assertEqual(
                self.blamed(rules, refused, 1, refused, 1, refused), ["It refused the key"]
            )
        failed = error(ErrorCategory.SERVER)
        self.assertEqual(self.blamed(watch.MODEL, ASKED, failed, ANSWERED), ["It failed to answer"])
        self.assertEqual(self.blamed(watch.EARS, failed), [])
        fault_of_a_tool = error(ErrorCategory.APPLICATION)
        self.assertEqual(self.blamed(watch.MODEL, ASKED, fault_of_a_tool, WORD, ANSWERED), [])


class Ears(STTService):
    hangs = False

    def __init__(self) -> None:
        super().__init__(settings=STTSettings(model=None, language=None))

    async def setup(self, setup: Any) -> None:
        await super().setup(setup)
        if self.hangs:
            await asyncio.sleep(3600)

    async def run_stt(self, audio: bytes) -> Any:
        yield None


class Model(LLMService):
    def __init__(self) -> None:
        super().__init__(settings=LLMSettings())
        self.asked = asyncio.Event()

    async def process_frame(self, frame: frames.Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, frames.LLMContextFrame):
            self.asked.set()
            await asyncio.sleep(3600)
        await self.push_frame(frame, direction)


class Voice(TTSService):
    def __init__(self) -> None:
        super().__init__(
            push_start_frame=True,
            push_stop_frames=True,
            settings=TTSSettings(model=None, voice=None, language=None),
        )
        self.said: list[str] = []

    async def run_tts(self, text: str, context_id: str) -> Any:
        self.said.append(text)
        yield frames.TTSAudioRawFrame(b"\0" * 32000, 16000, 1, context_id=context_id)


class Sessions(unittest.IsolatedAsyncioTestCase):
    """Whole pipelines, with time that passes quickly."""

    def setUp(self) -> None:
        self.ears, self.model, self.voice = Ears(), Model(), Voice()
        self.log: list[str] = []
        sink = logger.add(lambda m: self.log.append(m.record["message"]), filter="watch")
        self.addCleanup(logger.remove, sink)

    def session(self) -> tuple[PipelineWorker, asyncio.Task[None]]:
        worker = PipelineWorker(Pipeline([self.ears, self.model, self.voice]))
        services: watch.Services = {
            self.ears: ("Ears", "A"),
            self.model: ("Model", "B"),
            self.voice: ("Voice", "C"),
        }
        watch.Watch(worker, services, "Sorry.", page=False)

        async def run() -> None:
            runner = WorkerRunner(handle_sigint=False)
            await runner.add_workers(worker)
            await runner.run()

        return worker, asyncio.create_task(run())

    async def test_ears_that_do_not_connect_end_the_session_with_an_apology(self) -> None:
        self.ears.hangs = True
        with mock.patch.object(watch, "CONNECT", 0.2):
            _, session = self.session()
            await asyncio.wait_for(session, 10)
        self.assertEqual(
            self.log, ["Ears does not work. Check A in server/.env, the network and the log."]
        )
        self.assertEqual(self.voice.said, ["Sorry."])

    async def test_a_voice_that_fails_ends_the_session_without_one(self) -> None:
        _, session = self.session()
        await asyncio.sleep(0.5)
        await self.voice.push_error("no", category=ErrorCategory.AUTHORIZATION)
        await asyncio.wait_for(session, 10)
        self.assertEqual(
            self.log, ["Voice refused the key. Check C in server/.env, then start the bot again."]
        )
        self.assertEqual(self.voice.said, [])

    async def test_a_model_that_hangs_is_interrupted(self) -> None:
        with mock.patch.dict(watch.MODEL, {frames.LLMContextFrame: (0.5, "is late")}):
            worker, session = self.session()
        await worker.queue_frame(ASKED)
        await asyncio.wait_for(self.model.asked.wait(), 5)
        await asyncio.sleep(1.5)
        self.assertEqual(
            self.log, ["Model is late. Check B in server/.env, the network and the log."]
        )
        self.assertEqual(self.voice.said, ["Sorry."])
        self.assertFalse(session.done())
        await worker.stop_when_done()  # the model keeps nobody waiting
        await asyncio.wait_for(session, 10)

    async def test_nothing_stays_of_a_session(self) -> None:
        worker, session = self.session()
        await worker.stop_when_done()
        await asyncio.wait_for(session, 10)
        self.assertEqual(asyncio.all_tasks(), {asyncio.current_task()})
        watch.tidy()


if __name__ == "__main__":
    logger.remove()
    unittest.main()
