"""Sessions over SmallWebRTC: their page, addresses and offers."""

import asyncio
import base64
import hmac
import re
import time

import httpx
import pytest
from aiortc import RTCPeerConnection

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


async def browser_offer() -> dict[str, str]:
    """An offer as of a page, with audio and a data channel."""
    connection = RTCPeerConnection()
    connection.addTransceiver("audio")
    connection.createDataChannel("chat")
    await connection.setLocalDescription(await connection.createOffer())
    described = {"sdp": connection.localDescription.sdp, "type": "offer"}
    await connection.close()
    return described


GOOD = asyncio.run(browser_offer())
BROKEN = {
    "a letter": {"sdp": "x"},
    "nothing": {"sdp": ""},
    "no media": {"sdp": "v=0"},
    "another type": {"type": "answer"},
    "a type that is none": {"type": "A" * 40_000},
    "too long": {"sdp": GOOD["sdp"] + "a=x\r\n" * 20_000},
    "media that is none": {"sdp": "v=0\r\nm=x"},
    "no fingerprint": {"sdp": re.sub("a=fingerprint.*\r\n", "", GOOD["sdp"])},
    "no password": {"sdp": re.sub("a=ice-pwd.*\r\n", "", GOOD["sdp"])},
    "no codec": {"sdp": re.sub("a=rtpmap.*\r\n", "", GOOD["sdp"])},
    "a number that is none": {"sdp": GOOD["sdp"].replace("v=0", "v=" + "A" * 40_000)},
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN.keys())
def test_an_offer_that_cannot_be_read_ends_its_session(
    change: dict[str, str], log: list[str]
) -> None:
    client, sessions, bot = served(smallwebrtc.router)
    session = sessions.reserve()
    path = f"/sessions/{session.id}/api/offer"
    response = client.post(path, json=GOOD | change)
    assert response.status_code == 400 and len(response.content) < 100
    assert sessions.count() == 0 and smallwebrtc.peers == {} and bot.sessions == []
    [line] = [line for line in log if line.startswith("The offer could not be read")]
    assert len(line) < 200
    assert client.post(path, json=GOOD).status_code == 404


def test_what_is_of_another_form_is_refused(log: list[str]) -> None:
    client, sessions, _ = served(smallwebrtc.router)
    path = f"/sessions/{sessions.reserve().id}/api/offer"
    for change in ({"sdp": 1}, {"type": ["A" * 40_000]}, {"pc_id": {"A" * 40_000: 1}}):
        response = client.post(path, json=GOOD | change)
        assert response.status_code == 422 and len(response.content) < 300
    assert log == []


async def test_broken_offers_of_a_running_session_are_limited(log: list[str]) -> None:
    client, sessions, bot = served(smallwebrtc.router)
    path = f"/sessions/{sessions.reserve().id}/api/offer"
    asking = httpx.AsyncClient(transport=httpx.ASGITransport(client.app), base_url="http://bot")
    got = await asking.post(path, json=GOOD)
    assert got.status_code == 200 and got.json()["type"] == "answer"
    pc_id, candidate = got.json()["pc_id"], {"sdp_mid": "0", "sdp_mline_index": 0}
    good = {"pc_id": pc_id, "candidates": [candidate | {"candidate": ""}]}
    bad = {"pc_id": pc_id, "candidates": [candidate | {"candidate": "x" * 40_000}]}
    assert (await asking.patch(path, json=good)).status_code == 200
    assert (await asking.post(path, json=GOOD | {"pc_id": pc_id})).status_code == 200  # again
    statuses = [(await asking.patch(path, json=bad)).status_code for _ in range(5)]
    broken = GOOD | {"pc_id": pc_id, "sdp": "x"}
    statuses += [(await asking.post(path, json=broken)).status_code for _ in range(95)]
    assert statuses == [400] * 10 + [429] * 90
    assert len([line for line in log if "could not be read" in line]) <= 20
    assert len("".join(log)) < 10_000
    assert sessions.count() == 1  # it goes on
    bot.over.set()
    while sessions.count():
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert smallwebrtc.peers == {} and not smallwebrtc.broken
