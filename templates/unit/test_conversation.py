"""What a conversation looks after, for each kind of person."""

import asyncio
import re
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from pipecat.frames.frames import LLMRunFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.service_switcher import ServiceSwitcher
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    LLMContextAggregatorPair,
    UserTurnMessageAddedMessage,
)
from pipecat.processors.filters.identity_filter import IdentityFilter
from pipecat.runner.types import RunnerArguments
from pipecat.workers.runner import WorkerRunner

from fakes import SENTENCES, Ears, Line, Model, Voice, passing, streamed
from vbot import Conversation, Service, calls, to_thread
from vbot.conversation import begins
from vbot.silence import RealtimeSilenceMonitor, SilenceMonitor


class Outgoing(calls.Call):
    """A call that the bot makes, as in vbot/daily."""

    is_outgoing = True

    def attach(self, transport: Any, worker: Any, sentences: Any) -> None:
        self.attached = transport, worker, sentences


class Loader(IdentityFilter):
    """Like vbot.ollama.ModelLoader."""

    is_loading = False

    def delays_answer(self) -> bool:
        return self.is_loading


class Talk:
    """A conversation with a bot, cascade or realtime."""

    def __init__(
        self, arguments: Any = None, call: calls.Call | None = None, realtime: bool = False, **more
    ) -> None:
        self.line, self.loader = Line(), Loader()
        if call:
            calls.of_transport[self.line] = call
        self.arguments = arguments or RunnerArguments(session_id="the-session")
        ears, self.model, voice = Ears(), Model("answers"), ServiceSwitcher([Voice(), Voice()])
        self.user, self.assistant = LLMContextAggregatorPair(LLMContext([{"role": "user"}]))  # type: ignore
        middle = [self.model] if realtime else [self.loader, self.model, voice]
        before = [] if realtime else [ears]
        services: list[Any] = [self.model] if realtime else [ears, self.model, voice]
        pipeline = Pipeline(
            [self.line.input(), *before, self.user, *middle, self.line.output(), self.assistant]
        )
        self.worker = PipelineWorker(pipeline)
        self.conversation = Conversation(
            self.worker,
            self.line,
            self.arguments,
            {service: Service(service.name, "KEY") for service in services},
            SENTENCES,
            **more,
        )
        self.ready: list[Any] = []
        self.conversation.add_event_handler("on_ready", self.ready.append)

    async def open_page(self) -> None:
        await self.worker.rtvi._call_event_handler("on_client_ready")
        for _ in range(3):  # a handler calls a handler
            await asyncio.sleep(0)

    async def answer(self) -> None:
        await self.line.connect_client()
        for _ in range(3):
            await asyncio.sleep(0)

    def says(self) -> tuple[str, str, bool]:
        monitor = self.conversation.monitor
        return monitor._apology, monitor._please_wait, monitor._has_page


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FALLBACK_NUMBER", "+15557650000")


async def test_a_visitor() -> None:
    """Is greeted by the page's word, once, and may be silent. Also one of a telephone bot."""
    eval_call = streamed("eval", call_id=None)
    for talk in (Talk(), Talk(eval_call), Talk(streamed("websocket", call_id=None))):
        it = talk.conversation
        assert it.call is None and it.silence is None and not it.is_outgoing and it.has_voice
        assert it.transfers.fallback is None
        assert talk.says() == ("Sorry.", "", True)
        await talk.answer()
        assert not talk.ready
        await talk.open_page()
        await talk.open_page()
        assert talk.ready == [it]


@pytest.mark.parametrize("carrier", ["twilio", "telnyx", "plivo", "exotel"])
async def test_a_caller(carrier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is greeted once connected, and is asked when silent."""
    monkeypatch.setenv("SILENCE_SECONDS", "2.5")
    talk = Talk(streamed(carrier))
    it = talk.conversation
    assert it.call and not it.is_outgoing
    assert it.transfers.fallback and it.monitor._hand_over == it.transfers.fallback
    assert talk.says() == ("Sorry.", "Wait.", False)
    assert type(it.silence) is SilenceMonitor and it.silence._seconds == 2.5
    await talk.open_page()
    assert not talk.ready
    await talk.answer()
    await talk.answer()
    assert talk.ready == [it]


async def test_somebody_who_is_called() -> None:
    call = Outgoing()
    talk = Talk(call=call)
    assert talk.conversation.is_outgoing and talk.conversation.call is call
    assert call.attached == (talk.line, talk.worker, SENTENCES)
    assert talk.says()[2] is False and talk.conversation.transfers.fallback
    await talk.answer()
    assert len(talk.ready) == 1  # bot.py decides who speaks first


async def test_a_model_that_speaks() -> None:
    """It is told what to ask, and nothing is said word for word."""
    it = Talk(streamed("twilio"), realtime=True)
    assert not it.conversation.has_voice
    assert it.says() == ("", "", False)
    assert type(it.conversation.silence) is RealtimeSilenceMonitor
    assert it.conversation.transfers._connecting == ""
    assert Talk(realtime=True).says() == ("", "", True)


async def test_a_model_that_is_loading_owes_an_answer() -> None:
    talk = Talk(streamed("twilio"))
    assert not talk.conversation.is_waiting()
    talk.loader.is_loading = True
    assert talk.conversation.is_waiting()
    assert talk.conversation.silence and talk.conversation.silence._owes_answer()


@pytest.fixture
def begun() -> Iterator[list[Conversation]]:
    found: list[Conversation] = []
    token = begins.set(found.append)
    yield found
    begins.reset(token)


async def test_whoever_hosts_the_bot_knows_of_its_conversations(
    begun: list[Conversation],
) -> None:
    async def session() -> Conversation:
        return Talk().conversation

    first, second = await asyncio.gather(session(), session())
    assert begun == [first, second]


async def test_sessions_of_others_are_none_of_its_business() -> None:
    async def session(found: list[Conversation]) -> Conversation:
        begins.set(found.append)
        await asyncio.sleep(0)
        return Talk().conversation

    ours: list[Conversation] = []
    theirs: list[Conversation] = []
    one, other = await asyncio.gather(session(ours), session(theirs))
    assert (ours, theirs) == ([one], [other])


def test_what_happens_is_logged(log: list[str]) -> None:
    async def talk() -> None:
        it = Talk()
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(it.worker)
        run = asyncio.create_task(runner.run())
        await asyncio.sleep(1)
        await it.worker.queue_frame(LLMRunFrame())
        await asyncio.sleep(5)
        await it.worker.stop_when_done()
        await run

    passing(talk())
    lines = [line for line in log if line.startswith(("Said", "Answered", "Ended"))]
    assert lines[:-1] == ["Said 10 characters"]
    assert re.fullmatch(r"Ended after \d+ s: the bot ended it", lines[-1])
    assert "Here I am" not in " ".join(log)


async def test_a_transcript(log: list[str]) -> None:
    """Has what both sides say, with the session's id, only if it is asked for."""
    for with_transcript in (False, True):
        it = Talk(with_transcript=with_transcript)
        said = UserTurnMessageAddedMessage("Who's there?", "now")
        await it.user._call_event_handler("on_user_turn_message_added", said)
        answered = UserTurnMessageAddedMessage("I am.", "now")
        await it.assistant._call_event_handler("on_assistant_turn_stopped", answered)
        await asyncio.sleep(0)
    assert [line for line in log if "Transcript" in line] == [
        'Transcript the-session: user: "Who\'s there?"',
        "Transcript the-session: bot: 'I am.'",
    ]


async def test_pipelines_are_built_in_another_thread_one_at_a_time() -> None:
    running, most = 0, 0

    def build(name: str) -> tuple[str, bool]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        time.sleep(0.02)
        running -= 1
        return name, threading.current_thread() is threading.main_thread()

    built = await asyncio.gather(*(to_thread(build, name) for name in "abc"))
    assert built == [(name, False) for name in "abc"] and most == 1
