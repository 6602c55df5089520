"""Asterisk's calls on one's own machines: who may connect, and what happens to the others."""

import base64
from typing import Any

import pytest
from pipecat.runner.types import WebSocketRunnerArguments
from starlette.testclient import TestClient, WebSocketDenialResponse

from hosting_fakes import Bot, served
from vbot.hosting import asterisk, carriers
from vbot.hosting.sessions import Sessions

TOKEN = "f00d" * 16
PATH = f"/asterisk/{TOKEN}?from=%2B4930123&to=100"


def login(password: str = "secret") -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"asterisk:{password}".encode()).decode()}


@pytest.fixture(autouse=True)
def with_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHONE_TOKEN", TOKEN)
    monkeypatch.setenv("ASTERISK_PASSWORD", "secret")
    monkeypatch.delenv("MAX_SESSION_SECONDS", raising=False)
    monkeypatch.setattr(carriers, "guesses", carriers.Guesses())


def bot(capacity: int = 4) -> tuple[TestClient, Sessions, Bot]:
    return served(asterisk.router, transports=["asterisk"], capacity=capacity)


def status(client: TestClient, path: str = PATH, headers: dict[str, str] | None = None) -> int:
    """The status of the refusal, or 101."""
    given: Any = login() if headers is None else headers
    try:
        with client.websocket_connect(path, headers=given, subprotocols=["media"]) as ws:
            assert ws.accepted_subprotocol == "media"
            assert ws.receive()["type"] == "websocket.close"  # by the bot
    except WebSocketDenialResponse as refused:
        return refused.status_code
    return 101


def test_a_call() -> None:
    client, sessions, talker = bot()
    assert status(client) == 101
    [session] = talker.sessions
    assert isinstance(session, WebSocketRunnerArguments)
    assert session.transport_type == "asterisk" and session.websocket.query_params["to"] == "100"
    assert sessions.count() == 0


@pytest.mark.parametrize(
    ("path", "headers", "code"),
    [
        (PATH, {}, 401),
        (PATH, login("another"), 401),
        (PATH, login() | {"Origin": "https://example.com"}, 403),
        ("/asterisk/another", login(), 403),
        ("/asterisk", login(), 403),  # no such address
    ],
)
def test_strangers_are_refused(path: str, headers: dict[str, str], code: int) -> None:
    client, sessions, talker = bot()
    try:
        assert status(client, path, headers) == code
    except Exception as e:  # without a path, the app closes it
        assert path == "/asterisk" and "Disconnect" in type(e).__name__
    assert not talker.sessions and sessions.count() == 0


def test_tokens_cannot_be_guessed() -> None:
    client, _, _ = bot()
    codes = [status(client, f"/asterisk/{n}") for n in range(carriers.Guesses.a_minute + 1)]
    assert codes[-2:] == [403, 429]


def test_a_full_bot_refuses_the_connection() -> None:
    """So the dialplan goes on at once."""
    client, _, talker = bot(capacity=0)
    assert status(client) == 503 and not talker.sessions


def test_calls_out_are_asked_for_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SERVER_API_KEY", raising=False)
    client, _, _ = bot()
    assert client.post("/dialout", json={"phone_number": "200"}).status_code == 501
