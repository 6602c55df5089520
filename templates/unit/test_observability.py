"""vbot/observability.py: traces begin once, and Whisker shows one session."""

import asyncio
import socket
from typing import Any

import pytest

observability = pytest.importorskip("vbot.observability", exc_type=ImportError)


class Runner:
    def __init__(self) -> None:
        self.workers: list[Any] = []

    async def add_workers(self, *workers: Any) -> None:
        self.workers += workers


class Worker:
    def __init__(self) -> None:
        self.observers: list[Any] = []
        self.handlers: list[str] = []

    def add_observer(self, observer: Any) -> None:
        self.observers.append(observer)

    def event_handler(self, name: str) -> Any:
        self.handlers.append(name)
        return lambda handler: handler


class Whisker:
    def create_observer(self, worker: Worker) -> str:
        return "an observer"


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    names: list[str] = []
    observability.send_traces.cache_clear()
    monkeypatch.setattr(observability, "setup_tracing", lambda name, exporter: names.append(name))
    monkeypatch.setattr(observability, "WhiskerServer", Whisker)
    return names


def observe(worker: Worker, runner: Runner) -> None:
    asyncio.run(observability.observe(worker, runner, "my-bot"))


def test_traces_begin_once(traced: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318")
    for _ in range(2):
        observe(Worker(), Runner())
    assert traced == ["my-bot"]


def test_whisker_shows_one_session(traced: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    taken: list[Any] = []

    def create_server(address: tuple[str, int]) -> Any:
        assert address == ("localhost", 9090)
        if taken:
            raise OSError("the port is taken")
        return socket.socket()

    monkeypatch.setattr(observability.socket, "create_server", create_server)
    worker, runner = Worker(), Runner()
    observe(worker, runner)
    assert worker.observers == ["an observer"] and worker.handlers == ["on_pipeline_finished"]
    assert [type(one) for one in runner.workers] == [Whisker]
    taken.append(True)
    worker, runner = Worker(), Runner()
    observe(worker, runner)
    assert worker.observers == runner.workers == [] and traced == []
