"""Calls over Daily that a bot of one's own takes: those of webhooks.py, and those of Daily."""

import base64
import hmac
import json
import time
from types import SimpleNamespace
from typing import Any

import pytest
from pipecat.runner.types import DailyRunnerArguments
from starlette.testclient import TestClient

from hosting_fakes import Bot, served
from vbot import daily
from vbot.hosting import calls, dialin
from vbot.hosting.sessions import Sessions

RINGING = {"From": "+1555", "To": "+1666", "callId": "a-call", "callDomain": "a-domain"}
HOOK = "/daily-dialin-webhook"
made: list[Any] = []


@pytest.fixture(autouse=True)
def with_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    async def make_room(http: Any, call_id: str, caller: str) -> Any:
        made.append((call_id, caller))
        if call_id == "taken":
            return None
        if call_id == "broken":
            raise RuntimeError("server-error")
        return SimpleNamespace(url="https://company.daily.co/a"), "a-token"

    made.clear()
    monkeypatch.setattr(daily, "make_room", make_room)
    monkeypatch.setenv("DAILY_API_KEY", "a-daily-key")
    monkeypatch.setenv("DAILY_HMAC_SECRET", base64.b64encode(b"a-secret").decode())
    monkeypatch.delenv("MAX_SESSION_SECONDS", raising=False)


def bot_of(capacity: int = 2) -> tuple[TestClient, Sessions, Bot]:
    return served(calls.router, dialin.router, capacity=capacity)


def test_only_webhooks_py_starts_calls() -> None:
    client, sessions, bot = bot_of()
    call = daily.SipDialout(
        room_url="https://company.daily.co/a", token="t", sip_uri="sip:a@example.com"
    )
    body = call.signed()
    for wrong in (body | {"token": "x"}, body | {"until": 1}, {"signature": None}):
        assert client.post("/call", json=wrong).status_code == 401
    assert sessions.count() == 0
    with client:
        response = client.post("/call", json=body)
        assert response.status_code == 200
        [session] = sessions._running.values()
        assert response.json() == {"sessionId": session.id}
        assert session.may_ring and session.max_seconds == 900
        [arguments] = bot.sessions
        assert arguments.body == body and arguments.session_id == session.id
        client.post("/call", json=body)
        assert client.post("/call", json=body).status_code == 503


def signed(body: bytes, key: bytes = b"a-secret", ago: float = 0, unit: int = 1) -> dict[str, str]:
    at = str(int((time.time() - ago) * unit))
    mark = hmac.digest(key, at.encode() + b"." + body, "sha256")
    return {"X-Pinless-Timestamp": at, "X-Pinless-Signature": base64.b64encode(mark).decode()}


@pytest.mark.parametrize("unit", [1, 1000])
def test_daily_announces_a_call(unit: int) -> None:
    client, sessions, bot = bot_of()
    body = json.dumps(RINGING | {"sipHeaders": {"X-A": "b"}}).encode()
    with client:
        response = client.post(HOOK, content=body, headers=signed(body, unit=unit))
        [session] = sessions._running.values()
    assert made == [("a-call", "+1555")]
    room = "https://company.daily.co/a"
    assert response.json() == {"sessionId": session.id, "dailyRoom": room}
    assert session.may_ring and session.max_seconds == 900
    [arguments] = bot.sessions
    assert isinstance(arguments, DailyRunnerArguments)
    assert (arguments.room_url, arguments.token) == (room, "a-token")
    assert arguments.session_id == session.id
    numbers = {"call_id": "a-call", "call_domain": "a-domain", "From": "+1555", "To": "+1666"}
    assert arguments.body == {
        "dialin_settings": numbers | {"sip_headers": {"X-A": "b"}},
        "daily_api_key": "a-daily-key",
        "daily_api_url": "https://api.daily.co/v1",
    }


def test_nobody_else_announces_a_call() -> None:
    client, sessions, _ = bot_of()
    body = json.dumps(RINGING).encode()
    wrong = [{}, signed(body, b"another"), signed(body + b" "), signed(body, ago=900)]
    wrong += [signed(body, ago=-900), signed(body) | {"X-Pinless-Timestamp": "\u00b2".encode()}]
    wrong += [signed(body) | {"X-Pinless-Signature": b"\xc3\xa9"}]  # type: ignore[list-item]
    for headers in wrong:
        assert client.post(HOOK, content=body, headers=headers).status_code == 403
    assert sessions.count() == 0 and made == []
    # Daily's test of a new webhook.
    test = client.post(HOOK, json={"test": True})
    assert (test.status_code, test.json()) == (200, {"status": "OK"})


def test_a_call_that_another_bot_has_takes_no_session() -> None:
    client, sessions, bot = bot_of()
    body = json.dumps(RINGING | {"callId": "taken"}).encode()
    assert client.post(HOOK, content=body, headers=signed(body)).status_code == 200
    body = json.dumps(RINGING | {"callId": "broken"}).encode()
    with pytest.raises(RuntimeError):
        client.post(HOOK, content=body, headers=signed(body))
    assert sessions.count() == 0 and bot.sessions == []
    full, _, _ = bot_of(capacity=0)
    assert full.post(HOOK, content=body, headers=signed(body)).status_code == 503
