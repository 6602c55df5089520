"""POST /start: who may start a session, and what they get."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from hosting_fakes import served
from vbot.hosting import smallwebrtc, starts, websocket
from vbot.hosting.sessions import Session, Sessions

VARIABLES = ("BOT_PUBLIC_URL", "DOMAIN", "PIPECAT_ALLOWED_ORIGINS", "START_TOKEN")


@pytest.fixture(autouse=True)
def without_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def client(*transports: str, capacity: int = 4) -> tuple[TestClient, Sessions]:
    ways = {"webrtc": smallwebrtc.start, "websocket": websocket.start}
    made, sessions, _ = served(
        starts.router, transports=(*ways, *transports), starts=ways, capacity=capacity
    )
    return made, sessions


def test_a_page_gets_a_session_that_is_reserved() -> None:
    asking, sessions = client()
    response = asking.post("/start", json={"body": {"customer": "Ada"}})
    assert response.status_code == 200
    got = response.json()
    assert got.keys() == {"sessionId", "iceConfig"}  # the first transport
    session = sessions.find(got["sessionId"])
    assert session and session.body == {"customer": "Ada"} and session.max_seconds == 3600


def test_a_page_over_a_websocket_gets_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    asking, _ = client()
    got = asking.post("/start", json={"transport": "websocket"}).json()
    assert got["wsUrl"] == f"/ws-client/{got['sessionId']}"
    monkeypatch.setenv("DOMAIN", "bot.example.com")
    got = asking.post("/start", json={"transport": "websocket"}).json()
    assert got["wsUrl"] == f"wss://bot.example.com/ws-client/{got['sessionId']}"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"json": {"transport": "secret"}}, 400),
        ({"json": {"transport": ["secret"]}}, 422),
        ({"json": ["secret"]}, 422),
        ({"content": '{"transport": "webrtc"}'}, 422),  # a form or text, which no page has to ask
    ],
)
def test_other_requests_are_refused(sent: dict[str, Any], status: int) -> None:
    asking, sessions = client()
    response = asking.post("/start", **sent)
    assert response.status_code == status and sessions.count() == 0
    assert status == 400 or "secret" not in response.text


@pytest.mark.parametrize("transports", [(), ("call",), ("dialin",)])
@pytest.mark.parametrize("mark", ["signature", "dialin_settings"])
def test_calls_are_not_started_here(transports: tuple[str, ...], mark: str) -> None:
    """But whoever takes no calls may send what they like."""
    asking, sessions = client(*transports)
    is_call = {(): "", ("call",): "signature", ("dialin",): "dialin_settings"}[transports] == mark
    assert asking.post("/start", json={"body": {mark: 1}}).status_code == (401 if is_call else 200)
    assert sessions.count() == (0 if is_call else 1)
    assert asking.post("/start", json={"body": mark}).status_code == 200


def test_whoever_has_the_token_gets_every_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("START_TOKEN", "a token")
    asking, sessions = client()
    for wrong in (None, "", "Bearer", "Bearer another", b"Bearer \xc3\xa9", "Bearer a tokens"):
        headers: Any = {} if wrong is None else {"Authorization": wrong}
        assert asking.post("/start", json={}, headers=headers).status_code == 401, wrong
    right = {"Authorization": "Bearer a token"}
    statuses = [asking.post("/start", json={}, headers=right).status_code for _ in range(5)]
    assert statuses == [200] * 4 + [503]
    assert sessions.count() == 4


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({}, True),
        ({"Origin": "https://a.example.com"}, True),
        ({"Origin": "https://a.example.com", "Sec-Fetch-Site": "cross-site"}, True),
        ({"Origin": "https://testserver"}, True),  # its own page
        ({"Origin": "https://b.example"}, False),
        ({"Origin": "https://b.example", "Sec-Fetch-Site": "same-origin"}, True),  # by a proxy
        ({"Origin": "https://b.example", "Sec-Fetch-Site": "cross-site"}, False),
        ({"Origin": "https://b.example", "Sec-Fetch-Site": "same-site"}, False),
        ({"Origin": "null"}, False),
    ],
)
def test_only_listed_origins_start_sessions(
    headers: dict[str, str], allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIPECAT_ALLOWED_ORIGINS", "https://c.example, https://a.example.com")
    asking, _ = client()
    assert asking.post("/start", json={}, headers=headers).status_code == (200 if allowed else 403)
    monkeypatch.setenv("PIPECAT_ALLOWED_ORIGINS", "*")
    assert asking.post("/start", json={}, headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("origin", "allowed"), [("https://a.example.com", True), ("https://b.example", False)]
)
def test_a_browser_asks_first(origin: str, allowed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIPECAT_ALLOWED_ORIGINS", "https://a.example.com")
    headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    assert client()[0].options("/start", headers=headers).is_success == allowed


@pytest.mark.parametrize(
    ("addresses", "counted"),
    [
        ([], "testclient"),
        (["1.2.3.4"], "1.2.3.4"),
        (["8.8.8.8", "4.3.2.1, 1.2.3.4"], "1.2.3.4"),  # the last is what the proxy has added
        (["2001:db8::1"], "2001:db8::/64"),
        (["8.8.8.8", "2001:db8::2"], "2001:db8::/64"),
    ],
)
def test_sessions_are_counted_by_address(addresses: list[str], counted: str) -> None:
    asking, sessions = client()
    headers = [("X-Forwarded-For", address) for address in addresses]
    got = [asking.post("/start", json={}, headers=headers) for _ in range(3)]
    assert [response.status_code for response in got] == [200, 200, 503]  # half of four
    found = sessions.find(got[0].json()["sessionId"])
    assert found and found.address == counted
    assert asking.post("/start", json={}, headers={"X-Forwarded-For": "9.9.9.9"}).is_success


def test_a_session_that_cannot_be_prepared_is_free_again() -> None:
    async def fails(sessions: Sessions, session: Session) -> dict[str, Any]:
        raise OSError("no room")

    asking, sessions, _ = served(starts.router, starts={"daily": fails})
    with pytest.raises(OSError):
        asking.post("/start", json={})
    assert sessions.count() == 0


def test_nothing_describes_the_app() -> None:
    asking, _ = client()
    for path in ("/docs", "/redoc", "/openapi.json"):
        assert asking.get(path).status_code == 404


@pytest.mark.parametrize(
    ("origin", "settings", "allowed"),
    [
        ("http://localhost:7860", {}, True),
        ("http://127.0.0.1:7860", {}, True),
        ("http://[::1]:7860", {}, True),
        ("http://192.168.1.20:7860", {}, True),  # in the local network
        ("http://raspberry:7860", {}, True),  # the name of the machine
        ("http://Raspberry.local:7860", {}, True),
        ("http://evil.test:7860", {}, False),  # DNS rebinding
        ("http://raspberry.evil.test", {}, False),
        ("http://localhost.evil.test", {}, False),
        ("https://bot.example.com", {}, True),  # of an ingress that has its certificate
        ("https://bot.example.com", {"DOMAIN": "bot.example.com"}, True),
        ("https://b.example.com", {"DOMAIN": "bot.example.com, b.example.com:443"}, True),
        ("https://bot.example.com", {"BOT_PUBLIC_URL": "https://Bot.example.com/"}, True),
        ("https://evil.test", {"DOMAIN": "bot.example.com"}, False),
        ("https://evil.test", {"BOT_PUBLIC_URL": "https://bot.example.com"}, False),
        ("http://localhost:8000", {"DOMAIN": "bot.example.com"}, True),
        ("http://mybot.lan", {"PIPECAT_ALLOWED_ORIGINS": "http://mybot.lan"}, True),
        ("http://[", {}, False),
    ],
)
def test_a_page_of_the_same_host_needs_a_name_of_the_bot(
    origin: str, settings: dict[str, str], allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "Raspberry.fritz.box")
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    host = origin.partition("://")[2]
    assert starts.may_start(origin, host, None) == allowed
    # Behind a proxy that changes the name of the host. Browsers send this over https only.
    has_certificate = origin.startswith("https://")
    assert starts.may_start(origin, "internal", "same-origin") == (allowed or has_certificate)
    assert starts.may_start("", host, None)  # not a page
