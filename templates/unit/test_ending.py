"""vbot/ending.py: the page is told why a session ends, before its connection closes."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any
from unittest import mock

import pytest
from pipecat.frames.frames import CancelFrame, EndFrame, OutputTransportMessageUrgentFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.workers.runner import WorkerRunner

from fakes import Line
from vbot.ending import Ending
from vbot.log import HARMLESS, ConversationLog
from vbot.presence import Presence, present

How = Callable[[PipelineWorker, Line], Awaitable[Any]]


class Session:
    """A session that ends somehow, and what its page is told before it does."""

    def __init__(self, has_page: bool = True, silence: float = 300):
        self.line = Line()
        self.told: list[Any] = []
        self.output: Any = self.line.output()
        self.output.send_message = self._send
        self.worker = PipelineWorker(
            Pipeline([self.line.input(), self.line.output()]), idle_timeout_secs=silence
        )
        self._has_page, self._silence = has_page, silence

    async def _send(self, frame: OutputTransportMessageUrgentFrame) -> None:
        self.told.append(frame.message)

    async def run(self, how: How) -> None:
        """As run_bot does. Call `how` once the pipeline runs."""
        self.ending = Ending(self.line, self._has_page, self._silence)
        log = ConversationLog(self.worker, with_words=True)
        log.ending = self.ending
        self.worker.add_observer(log)
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(self.worker)

        @self.worker.event_handler("on_pipeline_started")
        async def on_pipeline_started(worker: PipelineWorker, frame: Any) -> None:
            await asyncio.sleep(0.05)  # a pipeline that has not quite started is not told to end
            await how(worker, self.line)

        await runner.run()


async def bot_ends(worker: PipelineWorker, line: Line) -> None:
    await worker.queue_frame(EndFrame())


async def bot_cancels(worker: PipelineWorker, line: Line) -> None:
    await worker.cancel()


async def fails(worker: PipelineWorker, line: Line) -> None:
    await worker.queue_frame(EndFrame(reason="failure"))


async def crashes(worker: PipelineWorker, line: Line) -> None:
    await worker.cancel(reason="fatal error: no")


async def silence(worker: PipelineWorker, line: Line) -> None:
    await worker.queue_frame(EndFrame(reason="silence"))


async def nothing(worker: PipelineWorker, line: Line) -> None:
    """Nobody speaks."""


async def leaves(worker: PipelineWorker, line: Line) -> None:
    await line._call_event_handler("on_client_disconnected", "somebody")
    await asyncio.sleep(0.01)
    await worker.cancel()


def server_message(**data: Any) -> dict[str, Any]:
    return {"label": "rtvi-ai", "type": "server-message", "data": data}


@pytest.mark.parametrize(
    ("how", "told", "logged"),
    [
        (bot_ends, [server_message(ended="bot")], "the bot ended it"),
        (bot_cancels, [server_message(ended="bot")], "the bot ended it"),
        (fails, [], "something failed"),  # which monitor.py has said
        (crashes, [], "something failed"),
        (leaves, [], "the person left"),
    ],
)
async def test_the_page_is_told(how: How, told: list[Any], logged: str, log: list[str]) -> None:
    session = Session()
    await session.run(how)
    assert session.told == told
    assert re.fullmatch(rf"Ended after \d+ s: {logged}", log[-1])


async def test_nobody_speaks(log: list[str]) -> None:
    """The framework's own warnings are not shown."""
    session = Session(silence=0.2)
    session._silence = 300
    await session.run(nothing)
    assert session.told == [server_message(ended="silence", minutes=5)]
    [shown] = [line for line in log if not any(harmless in line for harmless in HARMLESS)]
    assert re.fullmatch(r"Ended after \d+ s: nobody spoke for 5 minutes", shown)


@pytest.mark.parametrize(("host_says", "why"), [("", "stopped"), ("time", "time")])
async def test_the_host_ends_it(host_says: str, why: str) -> None:
    session, runs = Session(), asyncio.Event()

    async def begins(worker: PipelineWorker, line: Line) -> None:
        session.ending.host_says = lambda: host_says
        runs.set()

    task = asyncio.create_task(session.run(begins))
    await runs.wait()
    task.cancel()
    await asyncio.wait({task})
    assert session.told == [server_message(ended=why)]


async def test_somebody_who_is_gone_ends_it_by_the_hosts_hand() -> None:
    presence = Presence(mock.Mock())
    presence._left = True
    present.set(presence)
    session, runs = Session(), asyncio.Event()

    async def begins(worker: PipelineWorker, line: Line) -> None:
        runs.set()

    task = asyncio.create_task(session.run(begins))
    await runs.wait()
    task.cancel()
    await asyncio.wait({task})
    assert (session.ending.why, session.told) == ("person", [])


@pytest.mark.parametrize("how", [silence, bot_ends])
async def test_a_caller_has_no_page(how: How, log: list[str]) -> None:
    session = Session(has_page=False)
    await session.run(how)
    assert session.told == []
    assert log[-1].startswith("Ended after ") and "minutes" not in log[-1]


async def test_a_connection_that_is_gone_changes_nothing() -> None:
    session = Session()
    session.output.send_message = mock.AsyncMock(side_effect=RuntimeError("closed"))
    await session.run(bot_ends)
    assert session.ending.why == "bot"


async def test_the_first_reason_counts() -> None:
    session = Session()

    async def ends_twice(worker: PipelineWorker, line: Line) -> None:
        source = line.input()
        await source.queue_frame(EndFrame(reason="silence"))
        await worker.queue_frame(CancelFrame())

    await session.run(ends_twice)
    assert len(session.told) == 1
