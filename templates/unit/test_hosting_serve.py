"""What self_host.py serves, and what has to be right for it to start."""

import socket
from typing import Any

import pytest
from fastapi import HTTPException
from starlette.testclient import TestClient

from fakes import SENTENCES
from hosting_fakes import Bot
from vbot import Needs, hosting
from vbot.hosting import runtime, smallwebrtc

OPTIONS: dict[str, Any] = {"routers": [smallwebrtc.router], "max_sessions": 4}


@pytest.fixture(autouse=True)
def served(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is run: the app, its sessions, and what it loads."""
    for name in ("DAILY_API_KEY", "MAX_SESSIONS", "MAX_SESSIONS_PER_ADDRESS", "STARTS_PER_MINUTE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.argv", ["self_host.py"])
    monkeypatch.setattr(runtime, "set_up_logs", lambda: None)
    ran: list[Any] = []
    monkeypatch.setattr(runtime, "run", lambda *arguments: ran.extend(arguments))
    return ran


def test_limits_may_be_set(served: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    hosting.serve(Bot(), [], {"webrtc"}, SENTENCES, **OPTIONS)
    app, sessions, load = served
    assert sessions.capacity == 4 and load is None
    assert not sessions.is_open()  # until everything is loaded
    monkeypatch.setenv("MAX_SESSIONS", "2")
    hosting.serve(Bot(), [], {"webrtc"}, SENTENCES, **OPTIONS)
    assert served[4].capacity == 2
    monkeypatch.setenv("MAX_SESSIONS_PER_ADDRESS", "1")
    hosting.serve(Bot(), [], {"webrtc"}, SENTENCES, **OPTIONS)
    served[7].open()
    served[7].reserve(address="home")
    with pytest.raises(HTTPException):
        served[7].reserve(address="home")
    served[7].reserve(address="another")


@pytest.mark.parametrize("starts", [{}, {"webrtc": smallwebrtc.start}])
def test_pages_start_sessions_if_the_bot_has_pages(starts: Any, served: list[Any]) -> None:
    hosting.serve(Bot(), [], {"webrtc"}, SENTENCES, starts=starts, **OPTIONS)
    app, sessions, _ = served
    sessions.open()
    client = TestClient(app)
    assert client.post("/start", json={}).status_code == (200 if starts else 404)
    assert client.post("/sessions/made-up/api/offer").status_code == 422


def test_it_begins_after_the_checks(served: list[Any]) -> None:
    begun: list[str] = []
    background: list[Any] = [lambda: begun.append("a"), lambda: begun.append("b")]
    with pytest.raises(SystemExit, match="PHONE_TOKEN"):
        hosting.serve(Bot(), ["PHONE_TOKEN"], (), SENTENCES, background=background, **OPTIONS)
    assert begun == [] and served == []
    load: Any = object()
    hosting.serve(Bot(), [], (), SENTENCES, load=load, background=background, **OPTIONS)
    assert begun == ["a", "b"] and served[2] is load


@pytest.mark.parametrize(
    ("transports", "needed"), [({"webrtc"}, False), ({"daily"}, True), ({"dialin"}, True)]
)
def test_every_transport_needs_its_variables(transports: set[str], needed: bool) -> None:
    """Calls that Daily takes, too, which bot.py has with `-t daily`."""
    required = [Needs("DAILY_API_KEY", transport="daily")]
    if not needed:
        hosting.serve(Bot(), required, transports, SENTENCES, **OPTIONS)
        return
    with pytest.raises(SystemExit, match="DAILY_API_KEY"):
        hosting.serve(Bot(), required, transports, SENTENCES, **OPTIONS)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_port_that_is_taken_is_named(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SystemExit, match=f"Port {port} of {host}, for the bot, is taken"):
            runtime.check_port(host, port, "the bot")
    runtime.check_port(host, port, "the bot")


def test_an_address_of_another_machine_is_named() -> None:
    with pytest.raises(SystemExit, match="Port 7860 of 192.0.2.1, for the bot, cannot be used"):
        runtime.check_port("192.0.2.1", 7860, "the bot")
