"""The server that makes a room for each call and starts the bot there."""

import json
import os
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient
from twilio.request_validator import RequestValidator

from fakes import SENTENCES
from vbot import daily, webhooks
from vbot.webhooks import dialout, twilio

PASSWORD, TOKEN = "a-long-random-text", "a-twilio-token"
AUTHORIZED = {"Authorization": f"Bearer {PASSWORD}"}
RING = {"CallSid": "CA" + "2" * 32, "From": "+15551234567"}
ROOM = "https://company.daily.co/a"


class Runner(BaseHTTPRequestHandler):
    """Wherever the bot is started. It notes the requests."""

    requests: list[tuple[str, dict[str, str], Any]] = []
    status = 200

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.requests.append((self.path, dict(self.headers), body))
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(b"no capacity" if self.status >= 400 else b"{}")

    def log_message(self, format: str, *args: Any) -> None: ...


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Runner]]:
    class Fresh(Runner):
        requests = []

    server = HTTPServer(("127.0.0.1", 0), Fresh)
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("BOT_URL", f"http://127.0.0.1:{server.server_port}")
    yield Fresh
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def rooms(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Any]]:
    """The rooms that are made and deleted. Calls of the caller "nobody" get none."""
    seen: dict[str, list[Any]] = {"made": [], "deleted": []}

    async def make_dialout_room(session: Any, called: str) -> Any:
        seen["made"].append(called)
        if called == "nobody":
            raise RuntimeError("server-error")
        return SimpleNamespace(room_url=ROOM, token="a-token")

    async def make_room(session: Any, call_id: str, caller: str) -> Any:
        if caller == "nobody":
            raise RuntimeError("server-error")
        if call_id in seen["made"]:
            return None
        seen["made"].append(call_id)
        config = SimpleNamespace(sip_endpoint="" if caller == "no sip" else "sip:a@daily.example")
        return SimpleNamespace(url=ROOM, config=config), "a-token"

    async def delete_room(room_url: str, key: str) -> None:
        seen["deleted"].append(room_url)

    for function in (make_dialout_room, make_room, delete_room):
        monkeypatch.setattr(daily, function.__name__, function)
    for name in ("DOMAIN", "FALLBACK_NUMBER", "PIPECAT_AGENT_NAME", "PUBLIC_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DAILY_API_KEY", "a-daily-key")
    monkeypatch.setenv("SERVER_API_KEY", PASSWORD)
    monkeypatch.setenv("TWILIO_AUTH_TOKEN", TOKEN)
    return seen


@pytest.fixture
def client(request: pytest.FixtureRequest) -> Iterator[TestClient]:
    with TestClient(webhooks.new_app(request.param)) as client:
        yield client


to_telephones = pytest.mark.parametrize("client", [dialout.to_telephones], indirect=True)
to_both = pytest.mark.parametrize(
    ("client", "wanted", "called"),
    [
        (dialout.to_telephones, {"phone_number": "+15551234567"}, "+15551234567"),
        (dialout.to_sip_addresses, {"sip_uri": "sip:alice@example.com"}, "alice"),
    ],
    indirect=["client"],
)
over_twilio = pytest.mark.parametrize("client", [twilio.answering(SENTENCES)], indirect=True)


@to_both
def test_the_password_starts_a_call(
    client: TestClient,
    wanted: dict[str, str],
    called: str,
    runner: type[Runner],
    rooms: dict[str, list[Any]],
) -> None:
    data = {"customer": "Ada", "visits": 3}
    for more in ({}, {"data": data}):
        response = client.post("/dialout", json=wanted | more, headers=AUTHORIZED)
        assert response.json() == {"status": "started", "room_url": ROOM}
        path, _, body = runner.requests[-1]
        assert path == "/call"
        call = daily.Call.authentic(body)
        own = {"room_url": ROOM, "token": "a-token"} | wanted | {"data": more.get("data", {})}
        assert call.model_dump(exclude={"until", "signature"}) == own
    assert rooms["made"] == [called, called] and rooms["deleted"] == []


@to_both
def test_nobody_else_starts_a_call(
    client: TestClient, wanted: dict[str, str], called: str, rooms: dict[str, list[Any]]
) -> None:
    wrong = [None, "Bearer", "Bearer wrong", f"Bearer {PASSWORD[:-1]}", f"Basic {PASSWORD}"]
    for password in [*wrong, f"Bearer {PASSWORD} x", "Bearer pässword".encode()]:
        headers = {} if password is None else {"Authorization": password}
        for body in (wanted, {"phone_number": 1}, []):
            response = client.post("/dialout", json=body, headers=headers)  # type: ignore[arg-type]
            assert response.status_code == 401
            assert response.headers["WWW-Authenticate"] == "Bearer"
    assert rooms["made"] == []


NO_NUMBERS: list[Any] = ["15551234567", "+0551234567", "+1555", "+15551234567\n", None, 1555]
NO_ADDRESSES: list[Any] = ["alice@example.com", "sip:alice", "sip:a b@example.com", "", None]


@to_both
def test_what_cannot_be_called_is_refused(
    client: TestClient, wanted: dict[str, str], called: str, rooms: dict[str, list[Any]]
) -> None:
    [name] = wanted
    for value in NO_NUMBERS if name == "phone_number" else NO_ADDRESSES:
        response = client.post("/dialout", json={name: value}, headers=AUTHORIZED)
        assert response.status_code == 422, value
        assert response.json()["detail"][0]["loc"] == [name]
        assert "input" not in response.json()["detail"][0]
    unknown = [wanted | {"customer": "Ada"}, wanted | {"data": {"a": {"b": 1}}}, {}, [], "+1"]
    for body in unknown:
        assert client.post("/dialout", json=body, headers=AUTHORIZED).status_code == 422
    assert rooms["made"] == []


@to_telephones
def test_a_long_body_is_refused(client: TestClient) -> None:
    status = [
        client.post("/dialout", content=b"a" * size, headers=AUTHORIZED).status_code
        for size in (webhooks.MAX_BODY, webhooks.MAX_BODY + 1)
    ]
    assert status == [422, 413]
    assert client.get("/health").json() == {"status": "ok"}


@to_telephones
def test_failures_are_explained(
    client: TestClient,
    runner: type[Runner],
    rooms: dict[str, list[Any]],
    log: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = {"phone_number": "+15551234567"}
    runner.status = 503
    response = client.post("/dialout", json=wanted, headers=AUTHORIZED)
    assert response.status_code == 502
    assert response.json() == {"detail": "the bot did not start; see the server's log"}
    assert "503" in log[-1] and "no capacity" in log[-1]
    assert rooms["deleted"] == [ROOM]  # so that the call can be tried again

    monkeypatch.setenv("BOT_URL", "http://127.0.0.1:9")
    assert client.post("/dialout", json=wanted, headers=AUTHORIZED).status_code == 502
    assert "127.0.0.1" in log[-1]


@pytest.mark.parametrize("client", [dialout.to_sip_addresses], indirect=True)
def test_a_daily_that_makes_no_room_is_explained(client: TestClient, log: list[str]) -> None:
    response = client.post("/dialout", json={"sip_uri": "sip:nobody@a.b"}, headers=AUTHORIZED)
    assert response.status_code == 502
    assert response.json()["detail"] == "Daily made no room for the call; see the server's log"
    assert log == ["No Daily room: server-error"]


@to_telephones
def test_a_deployed_bot_is_started_on_pipecat_cloud(
    client: TestClient, runner: type[Runner], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "CLOUD_URL", os.environ["BOT_URL"])
    monkeypatch.setenv("PIPECAT_AGENT_NAME", "an-agent")
    monkeypatch.setenv("PIPECAT_API_KEY", "a-public-key")
    wanted = {"phone_number": "+15551234567"}
    assert client.post("/dialout", json=wanted, headers=AUTHORIZED).status_code == 200
    [(path, headers, body)] = runner.requests
    assert path == "/an-agent/start" and headers["Authorization"] == "Bearer a-public-key"
    assert body.keys() == {"createDailyRoom", "body"} and body["createDailyRoom"] is False
    daily.Call.authentic(body["body"])


def ring(client: TestClient, form: dict[str, str], url: str = "", key: str = TOKEN, **more: str):
    signature = RequestValidator(key).compute_signature(url or "http://testserver/call", form)
    headers = {"X-Twilio-Signature": signature} | more
    return client.post("/call", data=form, headers=headers)


WAIT = '<Say language="en-US">Wait.</Say><Pause length="30"/>'
BUSY = f'<Say language="en-US">{SENTENCES.busy}</Say>'


@over_twilio
def test_a_call_waits_for_the_bot(
    client: TestClient, runner: type[Runner], rooms: dict[str, list[Any]]
) -> None:
    response = ring(client, RING)
    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("application/xml")
    assert response.text == f"<Response>{WAIT}{BUSY}</Response>"
    [(path, _, body)] = runner.requests
    call = daily.Call.authentic(body)
    assert path == "/call" and isinstance(call, daily.TwilioSipDialin)
    assert (call.room_url, call.sip_uri) == (ROOM, "sip:a@daily.example")
    assert (call.call_sid, call.caller) == (RING["CallSid"], RING["From"])
    # The same call again starts nothing.
    assert ring(client, RING).text == response.text
    assert len(runner.requests) == 1 and rooms["deleted"] == []


@over_twilio
@pytest.mark.parametrize("caller", ["nobody", "no sip", "+1555"])
def test_without_a_bot_the_caller_is_told(
    client: TestClient, caller: str, runner: type[Runner], monkeypatch: pytest.MonkeyPatch
) -> None:
    runner.status = 503
    form = RING | {"From": caller}
    response = ring(client, form)
    assert (response.status_code, response.text) == (200, f"<Response>{BUSY}</Response>")
    monkeypatch.setenv("FALLBACK_NUMBER", "+15557650000")
    assert "<Number>+15557650000</Number>" in ring(client, form | {"CallSid": "CA" + "3" * 32}).text


@over_twilio
def test_only_twilio_announces_calls(
    client: TestClient, runner: type[Runner], rooms: dict[str, list[Any]]
) -> None:
    assert ring(client, RING, key="another").status_code == 403
    assert ring(client, RING, url="https://elsewhere.example/call").status_code == 403
    assert client.post("/call", data=RING).status_code == 403
    assert client.post("/call", content=b"\xff\xfe").status_code == 403
    assert client.post("/call", content=b"a" * webhooks.MAX_BODY).status_code == 403
    assert client.post("/call", content=b"a" * (webhooks.MAX_BODY + 1)).status_code == 413
    for form in ({"From": "+1555"}, {"CallSid": "CA1"}):
        response = ring(client, form)
        assert (response.status_code, response.json()["detail"]) == (400, "CallSid is missing")
    assert rooms["made"] == [] and runner.requests == []


@over_twilio
@pytest.mark.parametrize(
    ("name", "value"),
    [("PUBLIC_URL", "https://calls.example/"), ("DOMAIN", "calls.example")],
)
def test_twilio_may_know_another_address(
    client: TestClient,
    name: str,
    value: str,
    runner: type[Runner],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(name, value)
    assert ring(client, RING).status_code == 403
    assert ring(client, RING, "https://calls.example/call").status_code == 200


async def test_a_bot_that_may_still_start_keeps_its_room(
    rooms: dict[str, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow:
        def post(self, *args: Any, **options: Any) -> Any:
            raise TimeoutError

    call = daily.SipDialout(room_url=ROOM, token="t", sip_uri="sip:a@b.c")
    with pytest.raises(Exception, match="the bot did not start"):
        await webhooks.start_bot(Slow(), call)  # type: ignore[arg-type]
    assert rooms["deleted"] == []
