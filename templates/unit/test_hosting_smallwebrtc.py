"""Sessions over SmallWebRTC: their page, addresses and offers."""

import base64
import hmac
import time
from pathlib import Path

import pytest

from hosting_fakes import served
from vbot.hosting import smallwebrtc
from vbot.hosting.smallwebrtc import ice_servers, problems

OFFER = {"sdp": "v=0", "type": "offer"}


@pytest.fixture(autouse=True)
def without_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MAX_SESSION_SECONDS", "PIPECAT_ICE_SERVERS", "TURN_SECRET", "TURN_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("given", "servers"),
    [
        (None, []),
        ("stun:a, turn:b", [{"urls": "stun:a"}, {"urls": "turn:b"}]),
        ('["stun:a"]', [{"urls": "stun:a"}]),
        ('{"urls": ["stun:a"]}', [{"urls": ["stun:a"]}]),
        (
            '[{"urls": "turn:b", "username": "u", "credential": "c"}]',
            [{"urls": "turn:b", "username": "u", "credential": "c"}],
        ),
    ],
)
def test_addresses_are_urls_or_json(
    given: str | None, servers: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    if given:
        monkeypatch.setenv("PIPECAT_ICE_SERVERS", given)
    assert ice_servers("a-session") == servers
    assert problems() == []


@pytest.mark.parametrize("given", ["[", '[{"url": "stun:a"}]', "[1]", "{}x"])
def test_a_mistake_is_reported_before_somebody_connects(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIPECAT_ICE_SERVERS", given)
    [problem] = problems()
    assert problem.startswith("PIPECAT_ICE_SERVERS in .env must be")


@pytest.mark.parametrize("seconds", [3600, 50])
def test_a_session_gets_a_password_of_the_turn_server(
    seconds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """https://datatracker.ietf.org/doc/html/draft-uberti-behave-turn-rest-00"""
    monkeypatch.setenv("TURN_SECRET", "a secret")
    assert problems() == []  # settings.require says that the address is missing
    monkeypatch.setenv("TURN_URL", "turn:turn.example.com:3478")
    if seconds == 50:
        monkeypatch.setenv("MAX_SESSION_SECONDS", "50")
    [server] = ice_servers("a-session")
    until, _, session = server["username"].partition(":")
    assert session == "a-session" and 0 <= int(until) - time.time() - seconds - 118 < 4
    expected = hmac.digest(b"a secret", server["username"].encode(), "sha1")
    assert base64.b64decode(server["credential"]) == expected
    assert server["urls"] == "turn:turn.example.com:3478"


def test_the_page_is_served_if_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, _, _ = served(smallwebrtc.router)
    monkeypatch.setattr(smallwebrtc, "PAGE", tmp_path / "page.html")
    assert client.get("/").status_code == 404
    (tmp_path / "page.html").write_text("A page")
    assert client.get("/").text == "A page"


def test_an_offer_needs_a_session() -> None:
    client, sessions, bot = served(smallwebrtc.router)
    path = "/sessions/made-up/api/offer"
    assert client.post(path, json=OFFER).status_code == 404
    candidates = {"pc_id": "1", "candidates": []}
    assert client.patch(path, json=candidates).status_code == 404
    assert client.post(path, json={}).status_code == 422
    assert sessions.count() == 0 and bot.sessions == []


def test_a_session_is_started_once(monkeypatch: pytest.MonkeyPatch) -> None:
    client, sessions, _ = served(smallwebrtc.router)
    session = sessions.reserve()
    monkeypatch.setitem(smallwebrtc.peers, session.id, object())  # type: ignore[arg-type]
    path = f"/sessions/{session.id}/api/offer"
    assert client.post(path, json=OFFER).status_code == 409


def test_an_offer_that_fails_leaves_nothing() -> None:
    client, sessions, bot = served(smallwebrtc.router)
    session = sessions.reserve()
    with pytest.raises(Exception, match=".*"):
        client.post(f"/sessions/{session.id}/api/offer", json=OFFER | {"type": "nonsense"})
    assert smallwebrtc.peers == {} and bot.sessions == []
    assert sessions.find(session.id) is session  # so that the page can try again
