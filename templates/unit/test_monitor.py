"""monitor.py misses nothing, and blames nobody else."""

import asyncio
import socket
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from loguru import logger
from pipecat.adapters.llm.base_llm_adapter import LLMContextConversionError
from pipecat.frames import frames
from pipecat.observers.base_observer import FrameProcessed, FramePushed, ProcessorSetUp
from pipecat.pipeline.llm_switcher import LLMSwitcher
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.service_switcher import ServiceSwitcher, ServiceSwitcherStrategyFailover
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.filters.identity_filter import IdentityFilter
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.ai_service import AIService
from pipecat.services.settings import ServiceSettings
from pipecat.utils.asyncio.task_manager import TaskManager
from pipecat.utils.errors import ErrorCategory
from pipecat.workers.runner import WorkerRunner

from fakes import Ears, Model, Passing, Voice
from vbot import monitor

DOWN = FrameDirection.DOWNSTREAM
CHECK = "Check its key in server/.env, then start the bot again."

# Seconds; or who made, or was given, what; or who took this many seconds to connect, could not, or
# has connected again; or what looks at the monitor.
Step = Any


def given(who: str, frame: frames.Frame) -> Step:
    return who, False, frame


def made(who: str, frame: frames.Frame) -> Step:
    return who, True, frame


def spoken(seconds: float) -> list[Step]:
    start, stop = frames.VADUserStartedSpeakingFrame(), frames.VADUserStoppedSpeakingFrame()
    return [given("ears", start), seconds, given("ears", stop)]


def text(words: str, spoken: bool = True) -> Step:
    frame = frames.AggregatedTextFrame(words, "sentence")
    frame.will_be_spoken = spoken
    return made("voice", frame)


def asked(role: str = "user") -> Step:
    context = LLMContext([{"role": role, "content": "Hello?"}])  # type: ignore
    return given("model", frames.LLMContextFrame(context))


def refused(who: str) -> Step:
    # As the framework's HTTP clients report it.
    error = RuntimeError("Connection error.")
    error.__cause__ = ConnectionRefusedError(111, "refused")
    return who, error


def connected(who: str) -> Step:
    return who, None


WORKS = ["waiting", "problem"]
HEARD = made("ears", frames.TranscriptionFrame("Hello", "", ""))
WORD = made("model", frames.LLMTextFrame("Hello"))
THOUGHT = made("model", frames.LLMThoughtTextFrame("Hm"))
ANSWERED = made("model", frames.LLMFullResponseEndFrame())
TOOL = made("model", frames.FunctionCallsStartedFrame(function_calls=[]))
RESULT = made("model", frames.FunctionCallResultFrame("look", "1", {}, "rain"))
SOUND = made("voice", frames.TTSAudioRawFrame(b"\0" * 320, 16000, 1))
FINISHED = made("voice", frames.TTSStoppedFrame())
HEARS_ITSELF = made("model", frames.TTSAudioRawFrame(b"\0" * 320, 16000, 1))


class Patience(unittest.IsolatedAsyncioTestCase):
    """What is noted, and who is blamed, second by second."""

    def _setupAsyncioRunner(self) -> None:
        self._asyncioRunner = asyncio.Runner(loop_factory=Passing)

    async def told(self, *script: Step, page: bool = True, **limits: float) -> list[str]:
        """What is logged and said in the course of the script and in the minute after it."""
        said = list[str]()
        parts = {"ears": Ears(), "model": Model(), "voice": Voice(), "avatar": AIService()}
        if not limits.pop("cascade", True):
            del parts["voice"]
        watched = dict(parts)
        if limits.pop("switched", False):
            parts["switcher"] = ServiceSwitcher([parts["ears"], Ears()])
            watched["ears"] = parts["switcher"]
        worker = mock.Mock(spec=PipelineWorker, queue_frame=mock.AsyncMock())
        worker.pipeline.processors = []
        self.page: list[Any] = []  # what it was told

        async def queue_frame(frame: Any) -> None:
            self.page.append(frame.data)

        worker.queue_frame = queue_frame
        sink = logger.add(
            lambda m: said.append(m.record["message"]), level="INFO", filter="vbot.monitor"
        )
        services = {
            part: monitor.Service(who.title(), "KEY", limits.get(who, 21))
            for who, part in watched.items()
        }
        options = {"apology": "Sorry.", "please_wait": "Wait.", "has_page": page}
        it = monitor.ServiceMonitor(worker, services, **options)
        self.ends = False

        async def ends() -> None:
            self.ends = True

        it._end_session = ends  # type: ignore
        await it.setup(TaskManager())
        if voice := parts.get("voice"):
            say = mock.AsyncMock(side_effect=lambda frame: said.append(frame.text))
            voice.queue_frame = say  # type: ignore
        for step in (*script, 61):  # the longest wait is over before
            if isinstance(step, int | float):
                await asyncio.sleep(step)
            elif callable(step):
                step(it)
            elif len(step) == 2 and step[1] is None:
                await parts[step[0]]._call_event_handler("on_connected")
                await asyncio.sleep(0)
            elif len(step) == 2 and isinstance(error := step[1], Exception):
                frame = frames.ErrorFrame("no", exception=error, processor=parts[step[0]])
                await it._on_pipeline_error(worker, frame)
            elif len(step) == 2:
                await it.on_processor_setup(ProcessorSetUp(parts[step[0]], 0, int(step[1] * 1e9)))
            elif step[1]:
                who, _, frame = step
                await it.on_push_frame(FramePushed(parts[who], parts["ears"], frame, DOWN, 0))
            else:
                await it.on_process_frame(FrameProcessed(parts[step[0]], step[2], DOWN, 0))
        await it.cleanup()
        logger.remove(sink)
        return [line.partition(". Check")[0] for line in said]

    async def quiet(self, *script: Step, **options: Any) -> None:
        self.assertEqual(await self.told(*script, **options), [])

    async def late(self, who: str, *script: Step, what: str = "answered", **options: Any) -> None:
        """It is noted, the person is asked to wait, and it is told, once."""
        aloud = who in ("Ears", "Model") and options.get("cascade", True)
        lines = [f"{who} has not {what} for 12 s", f"{who} has not {what} for 21 s"]
        lines = [lines[0], "Wait.", lines[1], "Sorry."] if aloud else lines
        self.assertEqual(await self.told(*script, **options), lines)
        self.assertFalse(self.ends)

    async def test_a_broken_file_is_not_the_models(self) -> None:
        """The person who sent it is told, and can go on."""
        broken = LLMContextConversionError(ValueError("file"))
        lines = ["Model cannot read a file of the page"]
        assert await self.told(asked(), 1, ("model", broken)) == lines
        assert not self.ends
        # Nor is it after more of them than a service may make errors.
        again = (asked(), made("model", frames.ErrorFrame("no")), ("model", broken), 1)
        assert await self.told(*again * 20) == lines * 20
        assert not self.ends
        # An error of the model itself is still reported.
        assert await self.told(asked(), 1, ("model", ValueError("no"))) != []

    async def test_a_conversation_may_be_too_long(self) -> None:
        """Nothing is wrong with the model's server, and the person can go on."""
        for error in (
            "Error code: 400 - input length exceeds the context length",
            "the request exceeds the available context size, try increasing it",
            "prompt is too long: 210000 tokens > 200000 maximum",
            "The input token count (1100000) exceeds the maximum number of tokens allowed",
            "{'code': 'context_length_exceeded'}",
        ):
            said = await self.told(asked(), 1, ("model", RuntimeError(error)))
            self.assertEqual(said, ["Model cannot read a conversation of this length", "Sorry."])
            self.assertEqual(self.page, [{"problem": monitor.TOO_LONG}])
        for other in ("the request took too long", "no context"):
            said = await self.told(asked(), 1, ("model", RuntimeError(other)))
            self.assertEqual(said, ["Model failed to answer", "Sorry."])

    async def test_ears(self) -> None:
        await self.late("Ears", *spoken(2))
        await self.late("Ears", *spoken(2), 5, *spoken(2))
        await self.late("Ears", *spoken(0.5), 9, *spoken(1.25))
        await self.quiet(*spoken(2), 3, HEARD)
        self.assertNotIn("Sorry.", await self.told(*spoken(2), 20, HEARD))
        await self.quiet(60)

    async def test_ears_that_have_heard_owe_nothing(self) -> None:
        start, *rest = spoken(4)
        await self.quiet(start, 3, HEARD, *rest)  # the words come before the voice detector's end
        await self.late("Ears", start, 3, HEARD, *rest, 5, *spoken(2))

    async def test_noises_owe_nothing(self) -> None:
        await self.quiet(*spoken(0.5))
        await self.quiet(*[step for _ in range(20) for step in (*spoken(0.5), 4.5)])  # coughs
        await self.quiet(*[step for _ in range(10) for step in (*spoken(4), 1)])  # a radio
        await self.quiet(*spoken(25))  # somebody sings
        radio = [step for _ in range(4) for step in (*spoken(4), 1)]
        await self.late("Ears", *radio, HEARD, 5, *spoken(2))  # and then somebody asks

    async def test_muted_ears_owe_nothing(self) -> None:
        mute, unmute = (given("ears", frames.STTMuteFrame(mute=on)) for on in (True, False))
        await self.quiet(mute, *spoken(3))
        await self.quiet(*spoken(3), 2, mute)
        await self.late("Ears", mute, *spoken(3), unmute, 5, *spoken(2))

    async def test_what_has_failed_stays_failed(self) -> None:
        health = monitor.SpeechToTextHealth(monitor.Service("Ears", "KEY"))
        health.state = monitor.State.FAILED
        worker = mock.Mock(spec=PipelineWorker)
        worker.pipeline.processors = []
        it = monitor.ServiceMonitor(worker, {})
        it._see(health, health.is_given, frames.STTMuteFrame(mute=False))
        self.assertIs(health.state, monitor.State.FAILED)

    async def test_a_switcher_hears_a_question_once(self) -> None:
        start, seconds, stop = spoken(8)
        through = [("switcher", *start[1:]), start, seconds, ("switcher", *stop[1:]), stop]
        await self.late("Ears", *through, switched=True)

    async def test_model(self) -> None:
        await self.late("Model", asked())
        await self.late("Model", asked("developer"))
        await self.late("Model", asked(), 2, ANSWERED)  # with nothing
        await self.late("Model", asked(), 2, WORD, what="gone on")
        await self.late("Model", asked(), 2, THOUGHT, what="gone on")
        await self.late("Model", asked("tool"))
        await self.quiet(asked(), 6, WORD, 6, WORD, ANSWERED)
        await self.quiet(asked(), 11, THOUGHT, 11, WORD, ANSWERED)
        await self.quiet(asked(), 5, given("model", frames.InterruptionFrame()))
        await self.quiet(60)

    async def test_a_person_waits_for_an_answer_that_is_due(self) -> None:
        owed = list[bool]()

        def look(it: monitor.ServiceMonitor) -> None:
            owed.append(it.is_waiting())

        await self.told(look, asked(), 1, look, 24, look, WORD, ANSWERED, look)
        self.assertEqual(owed, [False, True, True, False])  # also from a service that is late
        owed.clear()
        await self.told(*spoken(2), look, HEARD, look, text("Hello."), look, SOUND, FINISHED, look)
        self.assertEqual(owed, [True, False, True, False])
        owed.clear()
        await self.told(asked(), 1, made("model", frames.ErrorFrame("no")), 25, look)
        self.assertEqual(owed, [False])  # none will come

    async def test_a_model_may_take_its_time(self) -> None:
        noted = ["Model has not answered for 12 s", "Wait."]
        self.assertEqual(await self.told(asked(), 20, WORD, ANSWERED), noted)
        twice = await self.told(asked(), 20, WORD, ANSWERED, asked(), 20, WORD, ANSWERED)
        self.assertEqual(twice, noted * 2)
        self.assertEqual(await self.told(asked(), 50, WORD, ANSWERED, model=60), noted)
        late = await self.told(asked(), model=60)
        self.assertEqual(late, [*noted, "Model has not answered for 60 s", "Sorry."])

    async def test_a_model_is_blamed_again_when_it_has_worked(self) -> None:
        once = await self.told(asked(), 25, asked(), 25)
        self.assertEqual(once.count("Sorry."), 1)
        again = await self.told(asked(), 25, WORD, ANSWERED, asked(), 25)
        self.assertEqual(again.count("Sorry."), 2)

    async def test_the_page_is_told_that_a_service_works_again(self) -> None:
        await self.told(asked(), 25, WORD, ANSWERED, 30)
        self.assertEqual([list(told) for told in self.page], [["waiting"], ["problem"], WORKS])
        self.assertEqual(self.page[-1], {"waiting": "", "problem": ""})
        await self.told(asked(), 15, WORD, ANSWERED, 30)  # it was only late
        self.assertEqual(self.page, [{"waiting": "Model"}, {"waiting": ""}])
        await self.told(asked(), 5, WORD, ANSWERED, 30)
        self.assertEqual(self.page, [])

    async def test_one_service_that_works_does_not_hide_another_that_does_not(self) -> None:
        await self.told(asked(), text("Hello."), 25, WORD, 1, ANSWERED)
        self.assertEqual(self.page[-1], {"waiting": ""})

    async def test_a_model_may_say_nothing(self) -> None:
        for marker in (frames.LLMMarkerFrame("○"), frames.LLMTextFrame("...")):
            await self.quiet(asked(), 2, made("model", marker), ANSWERED)
        await self.quiet(asked(), TOOL, 30)
        await self.quiet(asked(), TOOL, 10, asked("tool"), ANSWERED)  # it has said everything
        await self.quiet(asked(), TOOL, ANSWERED, RESULT, 30)  # which asks for no answer
        failed = made("model", frames.ErrorFrame("no"))
        await self.late("Model", asked("tool"), failed, ANSWERED)

    async def test_voice(self) -> None:
        await self.late("Voice", text("Hello."))
        await self.late("Voice", text("Hello."), 3, FINISHED)  # such an end is the framework's
        await self.late("Voice", text("Hello."), 1, SOUND, what="gone on")
        await self.late("Voice", text("One."), 5, text("Two."), 5, text("Three."))
        speech = [step for _ in range(40) for step in (SOUND, 0.5)]
        await self.quiet(text("A tale."), *speech, FINISHED)
        await self.quiet(text("..."), text("Code", spoken=False))
        await self.quiet(text("Hello."), 1, SOUND, given("voice", frames.InterruptionFrame()))
        called = given("voice", frames.FunctionCallsStartedFrame(function_calls=[]))
        await self.quiet(text("One moment."), SOUND, called)
        await self.quiet(text("Hm."), given("voice", frames.LLMThoughtTextFrame("Hm")))

    async def test_a_person_waits_while_the_voice_connects(self) -> None:
        hello = text("Hello."), 11.5, SOUND, FINISHED
        await self.quiet(*hello)
        said = await self.told(("voice", 10.0), *hello)
        self.assertEqual(said, [f"Voice has not answered for {n} s" for n in (12, 21)])
        await self.quiet(("voice", 10.0), text("Oh."), 1, SOUND, FINISHED, *hello)

    async def test_only_the_model_is_blamed_for_an_answer_that_stops(self) -> None:
        stops = [asked(), WORD, text("Hello."), SOUND]
        await self.late("Model", *stops, what="gone on")

    async def test_without_a_page_a_bot_that_cannot_be_heard_hangs_up(self) -> None:
        await self.told(text("Hello."), page=False)
        self.assertTrue(self.ends)
        await self.told(asked(), page=False, cascade=False)
        self.assertTrue(self.ends)
        await self.told(asked(), page=False)
        self.assertFalse(self.ends)

    async def test_speech_to_speech(self) -> None:
        await self.late("Model", asked(), cascade=False)
        await self.late("Model", asked(), 1, HEARS_ITSELF, what="gone on", cascade=False)
        done = made("model", frames.TTSStoppedFrame())
        await self.quiet(asked(), 1, HEARS_ITSELF, done, asked(), cascade=False)
        theirs = made("model", frames.TranscriptionFrame("Hello", "", ""))  # late
        await self.quiet(asked(), 1, HEARS_ITSELF, done, theirs, cascade=False)
        nothing = given("model", frames.LLMContextFrame(LLMContext()))
        await self.quiet(nothing, cascade=False)

    async def test_a_voice_that_cannot_be_reached_is_told_soon(self) -> None:
        once = ["Voice cannot be reached"] * 2  # noted, and told
        twice = [*once, "Sorry.", *once[:1]]
        again = text("Sorry."), refused("voice")
        for script in (
            [text("Hello."), refused("voice")],
            [refused("voice"), 5, text("Hello.")],
        ):
            said = await self.told(*script, 6, *again)
            self.assertEqual(said, twice)
            self.assertFalse(self.ends)
            said = await self.told(*script, 6, *again, page=False)
            self.assertEqual(said, [*twice, *once[:1]])  # the second try failed, too
            self.assertTrue(self.ends)
        told = await self.told(text("Hello."), refused("voice"), 5.5, page=False)
        self.assertEqual(told, twice[:3])

    async def test_a_voice_that_is_back_is_left_alone(self) -> None:
        """As one is that was started again."""
        back = connected("voice"), text("Hello."), 4, SOUND, FINISHED
        await self.quiet(refused("voice"), 0.5, *back)
        await self.quiet(refused("voice"), 30, text("Hello."), 11, SOUND, FINISHED)
        await self.quiet(text("Hello."), refused("voice"), 0.9, SOUND, FINISHED)
        noted = ["Voice cannot be reached"]
        said = await self.told(text("Hello."), refused("voice"), 4, SOUND, FINISHED, *back)
        self.assertEqual(said, noted)
        late = text("Hello."), refused("voice"), 6, text("Sorry."), SOUND, FINISHED
        said = await self.told(*late, 5, *back, page=False)
        self.assertEqual(said, [*noted * 2, "Sorry."])
        self.assertFalse(self.ends)

    async def test_other_errors_say_little(self) -> None:
        """Of a connection that was lost, for example: the service has connected again by now."""
        for error in (ConnectionResetError(), TimeoutError(), FileNotFoundError(2, "no file")):
            await self.late("Voice", text("Hello."), ("voice", error))

    async def test_ears_and_a_realtime_model_that_cannot_be_reached(self) -> None:
        said = await self.told(refused("ears"), *spoken(2))
        unreachable = "Ears cannot be reached"
        self.assertEqual(said, [unreachable, "Wait.", unreachable, "Sorry."])
        await self.quiet(refused("ears"), connected("ears"), *spoken(2), 4, HEARD)
        for nobody in (ConnectionRefusedError(), socket.gaierror(-2, "no such host")):
            said = await self.told(("model", nobody), 2, asked(), cascade=False, page=False)
            self.assertEqual(said, ["Model cannot be reached"] * 2)
            self.assertTrue(self.ends)

    async def test_a_model_that_cannot_be_reached_may_think_once_it_is_back(self) -> None:
        said = await self.told(asked(), refused("model"), 2, asked(), 11, WORD, ANSWERED)
        self.assertEqual(said, ["Model cannot be reached", "Sorry."])

    async def test_avatar(self) -> None:
        speech = given("avatar", frames.TTSAudioRawFrame(b"\0" * 320, 16000, 1))
        shown = made("avatar", frames.OutputImageRawFrame(b"", (1, 1), "RGB"))
        await self.late("Avatar", speech, 1, speech)
        await self.quiet(speech, 3, shown)


class Sessions(unittest.IsolatedAsyncioTestCase):
    """Whole pipelines, with time that passes quickly."""

    def _setupAsyncioRunner(self) -> None:
        self._asyncioRunner = asyncio.Runner(loop_factory=Passing)

    def setUp(self) -> None:
        self.ears: Any = Ears()
        self.model: Any = Model()
        self.voice: Any = Voice()
        self.log: list[str] = []
        sink = logger.add(
            lambda m: self.log.append(m.record["message"]), level="INFO", filter="vbot.monitor"
        )
        self.addCleanup(logger.remove, sink)
        limits = {"CONNECT_TIMEOUT": 0.3, "NOTED_AFTER": 0.5, "ERRORS_FOR": 0.5, "APOLOGY_TAKES": 2}
        for name, seconds in limits.items():
            patch = mock.patch.object(monitor, name, seconds)
            patch.start()
            self.addCleanup(patch.stop)

    def session(
        self, *more: FrameProcessor, rtvi: bool = True, named: bool = True
    ) -> tuple[PipelineWorker, asyncio.Task[None]]:
        pipeline = Pipeline([self.ears, self.model, self.voice, *more])
        worker = PipelineWorker(pipeline, enable_rtvi=rtvi, setup_timeout_secs=1)
        services: dict[FrameProcessor, monitor.Service] = {
            self.ears: monitor.Service("Ears", "A", answers_within=1),
            self.model: monitor.Service("Model", "B", answers_within=1),
            self.voice: monitor.Service("Voice", "C", answers_within=1),
        }
        watched = services if named else {}
        self.monitor = monitor.ServiceMonitor(worker, watched, apology="Sorry.", has_page=False)

        async def run() -> None:
            runner = WorkerRunner(handle_sigint=False)
            await runner.add_workers(worker)
            await runner.run()

        self.addAsyncCleanup(worker.cancel)
        return worker, asyncio.create_task(run())

    async def test_ears_that_do_not_connect_end_the_session_with_an_apology(self) -> None:
        self.ears.hangs = True
        _, session = self.session()
        await asyncio.wait_for(session, 10)
        self.assertEqual(
            self.log, ["Ears does not work. Check A in server/.env, the network and the log."]
        )
        self.assertEqual(self.voice.said, ["Sorry."])

    async def test_a_voice_that_fails_ends_the_session_without_one(self) -> None:
        _, session = self.session(rtvi=False)  # either way
        await asyncio.sleep(0.5)
        await self.voice.push_error("no", category=ErrorCategory.AUTHORIZATION)
        await asyncio.wait_for(session, 10)
        self.assertEqual(
            self.log, ["Voice refused the key. Check C in server/.env, then start the bot again."]
        )
        self.assertEqual(self.voice.said, [])

    async def test_a_model_that_hangs_is_not_interrupted(self) -> None:
        worker, session = self.session()
        await worker.queue_frame(asked()[2])
        await asyncio.sleep(2.5)
        late, told = self.log
        self.assertRegex(late, "^Model has not answered for . s$")
        self.assertRegex(told, r"^Model has not answered for . s\. Check B in server/\.env, ")
        self.assertEqual(self.voice.said, ["Sorry."])
        await worker.queue_frame(frames.TTSSpeakFrame("More"))
        await asyncio.sleep(0.5)
        self.assertEqual(self.voice.said, ["Sorry."])  # its request goes on
        await worker.cancel()
        await asyncio.wait_for(session, 10)

    async def test_a_request_that_failed_is_apologized_for(self) -> None:
        self.model = Model("fails")
        worker, session = self.session()
        for _ in range(2):
            await worker.queue_frame(asked()[2])
            await asyncio.sleep(0.7)
        told = [line.partition(".")[0] for line in self.log]
        self.assertEqual(told, ["Model failed to answer"] * 2)
        self.assertEqual(self.voice.said.count("Sorry."), 2)
        self.assertFalse(session.done())
        await worker.cancel()
        await asyncio.wait_for(session, 10)

    async def test_a_tool_that_raises_is_named_with_its_line_and_blames_no_service(self) -> None:
        def price(of: str) -> int:
            return {"tea": 3}[of]

        worker, session = self.session()
        await asyncio.sleep(0.5)
        try:
            price("cake")
        except KeyError as error:
            said = f"Error executing function call [price]: {error}"  # as the framework does
            category = ErrorCategory.APPLICATION
            with mock.patch.object(monitor, "SERVER", Path(__file__).parent):
                await self.model.push_error(said, exception=error, category=category)
                await asyncio.sleep(0.5)
        [told] = self.log
        self.assertRegex(
            told,
            r"^The tool price failed: KeyError: 'cake' "
            r'\(test_monitor\.py, line \d+, in price: return \{"tea": 3\}\[of\]\)$',
        )
        self.assertEqual(self.voice.said, [])
        self.assertFalse(session.done())
        await worker.cancel()
        await asyncio.wait_for(session, 10)

    async def test_an_argument_that_a_tool_does_not_have_is_told(self) -> None:
        error = TypeError("price() got an unexpected keyword argument 'off'")
        frame = frames.ErrorFrame(
            f"Error executing function call [price]: {error}", exception=error
        )
        self.assertEqual(
            monitor.told_of_tool(frame),
            f"The tool price failed: TypeError: {error} (none of its lines was reached)",
        )
        self.assertEqual(monitor.told_of_tool(frames.ErrorFrame("no", exception=error)), "")

    async def test_the_errors_of_a_service_without_a_name_are_told(self) -> None:
        class Memory(AIService):
            pass

        memory = Memory(settings=ServiceSettings(model=None))
        worker, session = self.session(memory)
        await asyncio.sleep(0.5)
        await memory.push_error("no", category=ErrorCategory.SERVER)
        await asyncio.sleep(2)
        self.assertEqual(self.log, [])  # it can go on, and owes nothing
        await memory.push_error("no", category=ErrorCategory.AUTHENTICATION)
        await asyncio.sleep(1)
        self.assertEqual(self.log, [f"{memory.name} refused the key. {CHECK}"])
        self.assertFalse(session.done())
        await worker.cancel()
        await asyncio.wait_for(session, 10)

    async def test_a_service_without_a_name_does_not_end_a_call_without_a_voice(self) -> None:
        memory = AIService(settings=ServiceSettings(model=None))
        self.voice = IdentityFilter()
        worker, session = self.session(memory)
        await asyncio.sleep(0.5)
        await memory.push_error("no", category=ErrorCategory.AUTHENTICATION)
        await asyncio.sleep(1.5)
        self.assertEqual(len(self.log), 1)
        self.assertFalse(session.done())
        await worker.cancel()
        await asyncio.wait_for(session, 10)

    async def test_a_session_of_services_without_names_ends_when_one_fails(self) -> None:
        _, session = self.session(named=False)
        await asyncio.sleep(0.5)
        await self.ears.push_error("no", category=ErrorCategory.AUTHENTICATION)
        await asyncio.wait_for(session, 10)
        self.assertEqual(self.log, [f"{self.ears.name} refused the key. {CHECK}"])

    async def test_a_model_that_takes_over_keeps_the_session(self) -> None:
        first, second = Model("is refused"), Model("answers")
        switcher = LLMSwitcher([first, second], ServiceSwitcherStrategyFailover)
        self.model = switcher
        worker, session = self.session()

        @switcher.strategy.event_handler("on_service_switched")
        async def ask_again(strategy: Any, service: Any) -> None:
            await worker.queue_frame(asked()[2])

        await worker.queue_frame(asked()[2])
        await asyncio.sleep(2.5)
        self.assertEqual((first.asked, second.asked, self.log), (1, 1, []))
        self.assertEqual(self.voice.said, ["Here I am."])
        self.assertFalse(session.done())
        await second.push_error("no", category=ErrorCategory.AUTHENTICATION)  # nobody is left
        await asyncio.wait_for(session, 10)
        self.assertEqual([line.partition(".")[0] for line in self.log], ["Model does not work"])

    async def test_a_connection_that_is_lost_ends_the_session(self) -> None:
        _, session = self.session()
        await asyncio.sleep(0.5)

        async def fail(seconds: float, each: float = 0.05) -> None:
            for _ in range(int(seconds / each)):
                await self.model.push_error("no", category=ErrorCategory.CONNECTIVITY)
                await asyncio.sleep(each)

        await fail(0.4)
        await self.model.push_frame(frames.LLMTextFrame("Here I am."))  # it has connected again
        await fail(0.4)
        await asyncio.sleep(2.1)
        await fail(0.4)
        self.assertNotIn("does not work", " ".join(self.log))
        await fail(0.4)
        await asyncio.wait_for(session, 10)
        self.assertIn(
            "Model does not work. Check B in server/.env, the network and the log.", self.log
        )

    async def test_a_switcher_of_which_one_hangs_ends_the_session(self) -> None:
        hangs = Ears()
        hangs.hangs = True
        self.ears = ServiceSwitcher([Ears(), hangs])
        _, session = self.session()
        await asyncio.wait_for(session, 10)
        self.assertEqual(
            self.log, ["Ears does not connect. Check A in server/.env, the network and the log."]
        )

    async def test_a_session_leaves_nothing_behind(self) -> None:
        worker, session = self.session()
        await worker.stop_when_done()
        await asyncio.wait_for(session, 10)
        self.assertEqual(asyncio.all_tasks(), {asyncio.current_task()})
