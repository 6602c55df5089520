"""Prometheus gets how many sessions there are, why they end, and how long people wait."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from pipecat.frames import frames
from pipecat.observers.base_observer import FramePushed
from pipecat.processors.frame_processor import FrameDirection
from pipecat.runner.types import RunnerArguments
from prometheus_client import REGISTRY

from hosting_fakes import Bot
from vbot.hosting import metrics
from vbot.hosting.sessions import Sessions
from vbot.monitor import Service


def figure(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0


def measured(capacity: int) -> tuple[Sessions, Bot]:
    bot = Bot()
    sessions = Sessions(bot, capacity, listener=metrics.Metrics())
    metrics.show(sessions)
    sessions.open()
    return sessions, bot


async def test_sessions_are_counted() -> None:
    names = ["sessions_started_total", "sessions_refused_total", "session_seconds_count"]
    before = [figure(f"bot_{name}") for name in names]
    left = figure("bot_sessions_ended_total", why="left")
    sessions, bot = measured(2)
    assert figure("bot_sessions") == 0 and figure("bot_sessions_max") == 2
    session, _ = sessions.reserve(), sessions.reserve()
    with pytest.raises(Exception, match="no session can start"):
        sessions.reserve()
    sessions.start(session, RunnerArguments())
    await asyncio.sleep(0)
    assert figure("bot_sessions") == 2
    bot.over.set()
    assert session.task
    await session.task
    await asyncio.sleep(0)
    assert figure("bot_sessions") == 1
    assert [figure(f"bot_{name}") for name in names] == [count + 1 for count in before]
    assert figure("bot_sessions_ended_total", why="left") == left + 1


async def test_a_process_that_stops_has_room_for_no_more_than_it_runs() -> None:
    sessions, bot = measured(3)
    sessions.start(sessions.reserve(), RunnerArguments())
    draining = asyncio.create_task(sessions.drain(60))
    await asyncio.sleep(0.1)
    assert figure("bot_sessions") == 1 == figure("bot_sessions_max")
    bot.over.set()
    await draining


async def sees(times: metrics.AnswerTimes, *made: type[frames.Frame]) -> None:
    for frame in made:
        down, source = FrameDirection.DOWNSTREAM, SimpleNamespace()
        await times.on_push_frame(FramePushed(source, source, frame(), down, 0))  # type: ignore


async def test_waits_are_measured() -> None:
    words, turns = figure("bot_first_word_seconds_count"), figure("bot_turn_seconds_count")
    waited = figure("bot_turn_seconds_sum")
    session = measured(1)[0].reserve()
    times = metrics.AnswerTimes(session)
    speaks, stops = frames.BotStartedSpeakingFrame, frames.VADUserStoppedSpeakingFrame
    await sees(times, frames.ClientConnectedFrame, speaks, stops)
    assert session.connected_at
    await asyncio.sleep(0.1)
    await sees(times, speaks, speaks)  # goes on after a pause
    assert figure("bot_first_word_seconds_count") == words + 1
    assert figure("bot_turn_seconds_count") == turns + 1
    assert figure("bot_turn_seconds_sum") >= waited + 0.1


async def test_ringing_is_no_wait() -> None:
    waited = figure("bot_first_word_seconds_sum")
    session = measured(1)[0].reserve()
    session.requested_at -= 60
    session.may_ring = True
    times = metrics.AnswerTimes(session)
    await sees(times, frames.ClientConnectedFrame, frames.BotStartedSpeakingFrame)
    assert figure("bot_first_word_seconds_sum") < waited + 1


async def test_failures_and_delays_of_services_are_counted() -> None:
    handlers: dict[str, Any] = {}
    monitor = SimpleNamespace(add_event_handler=handlers.__setitem__)
    observers: list[Any] = []
    worker = SimpleNamespace(add_observer=observers.append)
    session = measured(1)[0].reserve()
    conversation: Any = SimpleNamespace(monitor=monitor, worker=worker)
    metrics.Metrics().on_conversation(session, conversation)
    [times] = observers
    assert isinstance(times, metrics.AnswerTimes)
    service = Service("OpenAI", "OPENAI_API_KEY")
    handlers["on_late"](monitor, service, "OpenAI is late")
    assert session.ended_because == "left"
    handlers["on_failed"](monitor, service, "OpenAI failed")
    assert session.ended_because == "service"
    assert figure("bot_service_delays_total", service="OpenAI") == 1
    assert figure("bot_service_failures_total", service="OpenAI") == 1
