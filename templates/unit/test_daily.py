"""Telephone calls over Daily: who may start one, what happens in it, and its room."""

import asyncio
import hmac
import json
import time
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI, HTTPException
from pipecat.runner.types import DailyRunnerArguments, RunnerArguments
from pipecat.transports.daily.transport import DailyParams, DailyTransport
from starlette.testclient import TestClient

from fakes import SENTENCES
from vbot import calls, daily
from vbot.daily import Call, PstnDialout, SipDialout, TwilioSipDialin, rooms
from vbot.daily.calls import MAX_ATTEMPTS

KEY = "a-daily-key"
ROOM: dict[str, Any] = {"room_url": "https://company.daily.co/a-room", "token": "a-token"}
PSTN: dict[str, Any] = ROOM | {
    "phone_number": "+15551234567",
    "data": {"customer": "Ada", "visits": 3},
}
SIP: dict[str, Any] = ROOM | {"sip_uri": "sip:alice@example.com", "data": {}}
TWILIO: dict[str, Any] = ROOM | {
    "sip_uri": "sip:a&b@sip.daily.example",
    "call_sid": "CA1",
    "caller": "+1555",
}
KINDS: list[tuple[type[Call], dict[str, Any]]] = [
    (PstnDialout, PSTN),
    (SipDialout, SIP),
    (TwilioSipDialin, TWILIO),
]
DIALED_IN = {
    "dialin_settings": {"call_id": "1", "call_domain": "2", "To": "+1", "From": "+1555"},
    "daily_api_key": "another-key",
    "daily_api_url": "https://api.daily.example/v1",
}


STARTED = time.time()  # when this file was read, and parameters were signed


@pytest.fixture(autouse=True)
def with_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key, at the time at which parameters were signed: signatures are valid for a minute."""
    monkeypatch.setenv("DAILY_API_KEY", KEY)
    monkeypatch.setattr(time, "time", lambda: STARTED)


def signed(call: dict[str, Any], key: str = KEY, seconds: int = 60) -> dict[str, Any]:
    call = call | {"until": int(time.time()) + seconds}
    text = json.dumps(call, separators=(",", ":"), ensure_ascii=False).encode()
    return call | {"signature": hmac.new(key.encode(), text, "sha256").hexdigest()}


@pytest.mark.parametrize(("kind", "fields"), KINDS)
def test_a_call_is_signed_for_a_minute(kind: type[Call], fields: dict[str, Any]) -> None:
    body = kind(**fields).signed()
    assert body == signed(fields, seconds=body["until"] - int(time.time()))
    assert 58 <= body["until"] - time.time() <= 60
    call = Call.authentic(json.loads(json.dumps(dict(reversed(body.items())))))
    assert type(call) is kind and call.model_dump() == body
    assert call.is_outgoing == (kind is not TwilioSipDialin)


@pytest.mark.parametrize(
    "body",
    [
        PSTN,
        signed(PSTN, "another key"),
        signed(PSTN, seconds=-1),  # expired, or sent again later
        signed(PSTN) | {"until": int(time.time()) + 999},
        signed(PSTN) | {"token": "another-token"},
        signed(PSTN) | {"signature": "0" * 64},
        signed(PSTN) | {"signature": "\u00e9"},
        signed(PSTN | {"room_url": "https://attacker.example/../release-phone-number/ID"}),
        signed(PSTN | {"room_url": f"{ROOM['room_url']}\n"}),
        signed(PSTN | {"phone_number": "15551234567"}),
        signed(SIP | {"sip_uri": "alice"}),
        # A call of one kind, sent as another.
        signed(SIP) | {"phone_number": "+15551234567"} | {"sip_uri": None},
        signed(SIP) | {"call_sid": "CA1", "caller": "+1555"} | {"sip_uri": "sip:b@example.com"},
        signed(TWILIO) | {"data": {}, "call_sid": None},
        {"signature": None},
        DIALED_IN,
        None,
        [],
        "text",
    ],
)
def test_any_other_body_is_no_call(body: Any) -> None:
    with pytest.raises(HTTPException) as refusal:
        Call.authentic(body)
    assert refusal.value.status_code == 401


def test_the_bot_joins_the_room_of_the_call() -> None:
    transport = PstnDialout(**PSTN).transport(DailyParams(audio_in_enabled=True))
    assert isinstance(transport, DailyTransport) and transport.room_url == ROOM["room_url"]


class Transport(DailyTransport):
    """Notes what Daily is asked for."""

    def __init__(self, refusal: str | None = None) -> None:
        self.refusal = refusal
        self.asked: list[tuple[str, Any]] = []
        self.handlers: dict[str, Any] = {}

    @property
    def room_url(self) -> str:
        return ROOM["room_url"]

    def event_handler(self, event_name: str) -> Any:
        return lambda handler: self.handlers.setdefault(event_name, handler)

    async def start_dialout(self, settings: Any = None) -> Any:
        self.asked.append(("dial", settings))
        return None, self.refusal

    async def sip_call_transfer(self, settings: Any) -> Any:
        self.asked.append(("transfer", settings))
        return self.refusal

    async def happens(self, event: str, data: Any = None) -> None:
        await self.handlers[event](self, data)


class Worker:
    is_cancelled = False

    async def cancel(self, reason: str = "") -> None:
        self.is_cancelled = True


def attached(call: Any, refusal: str | None = None) -> tuple[Transport, Worker]:
    transport, worker = Transport(refusal), Worker()
    call.attach(transport, worker, SENTENCES)
    return transport, worker


@pytest.mark.parametrize(
    ("call", "address"),
    [
        (PstnDialout(**PSTN), {"phoneNumber": "+15551234567"}),
        (SipDialout(**SIP), {"sipUri": "sip:alice@example.com"}),
    ],
)
async def test_the_bot_tries_to_reach_the_person(call: Call, address: dict[str, str]) -> None:
    transport, worker = attached(call)
    await transport.happens("on_joined")
    for attempt in range(1, MAX_ATTEMPTS):
        assert transport.asked == [("dial", address)] * attempt
        await transport.happens("on_dialout_error", "busy")
    assert not worker.is_cancelled
    await transport.happens("on_dialout_answered")
    await transport.happens("on_dialout_error", "busy")
    assert worker.is_cancelled and len(transport.asked) == MAX_ATTEMPTS == 3


async def test_a_call_that_cannot_be_started_ends_the_session(log: list[str]) -> None:
    transport, worker = attached(PstnDialout(**PSTN), refusal="not enabled")
    await transport.happens("on_joined")
    assert worker.is_cancelled and "The call cannot be started: 'not enabled'" in log


@pytest.fixture
def twilio(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What Twilio is asked for. It refuses calls without an ID."""
    asked: list[Any] = []

    async def update_at_twilio(call_sid: str, twiml: str) -> None:
        asked.append((call_sid, twiml))
        if not call_sid:
            raise RuntimeError("404 not found")

    monkeypatch.setattr(calls, "update_at_twilio", update_at_twilio)
    return asked


async def test_the_bot_fetches_the_call_that_waits_at_twilio(twilio: list[Any]) -> None:
    transport, worker = attached(TwilioSipDialin(**TWILIO))
    assert twilio == []
    await transport.happens("on_dialin_ready", "")
    to = "<Dial><Sip>sip:a&amp;b@sip.daily.example</Sip></Dial>"
    assert twilio == [("CA1", to)] and not worker.is_cancelled
    await transport.happens("on_dialin_error", "gone")
    assert worker.is_cancelled


async def test_a_call_that_twilio_does_not_hand_over_ends_the_session(
    twilio: list[Any], log: list[str]
) -> None:
    transport, worker = attached(TwilioSipDialin(**{**TWILIO, "call_sid": ""}))
    await transport.happens("on_dialin_ready", "")
    assert worker.is_cancelled and "Twilio did not hand the call over: 404 not found" in log


async def test_twilio_connects_its_call_to_a_number(twilio: list[Any]) -> None:
    call = TwilioSipDialin(**TWILIO)
    attached(call)
    await call.connect("+1666", "+1777")
    assert twilio == [("CA1", calls.dial("+1666", SENTENCES, "+1777"))]
    assert not await call.leave()


@pytest.mark.parametrize("kind", ["out", "in"])
async def test_daily_connects_its_call_to_a_number(kind: str, deleted: list[Any]) -> None:
    """The room stays open for both."""
    transport = Transport()
    call = daily.DialinCall(transport) if kind == "in" else PstnDialout(**PSTN)
    call.attach(transport, Worker(), SENTENCES)  # type: ignore[arg-type]
    await call.connect("+1666")
    assert transport.asked == [("transfer", {"toEndPoint": "+1666"})]
    await daily.delete_room(ROOM["room_url"], KEY)
    assert deleted == []
    transport.refusal = "TransferFailed"
    with pytest.raises(RuntimeError, match="TransferFailed"):
        await call.connect("+1666")
    await daily.delete_room(ROOM["room_url"], KEY)
    assert deleted == [(ROOM["room_url"], KEY, daily.API)]


async def test_a_call_that_daily_took_may_fail() -> None:
    transport, worker = attached(daily.DialinCall(Transport()))
    await transport.happens("on_dialin_error", "gone")
    assert worker.is_cancelled


# Rooms.


class DailyAPI:
    """Makes rooms, unless it has one of that name, and tokens."""

    has_rooms: list[str] = []
    made: list[Any] = []
    deleted: list[Any] = []
    fails = ""

    def __init__(self, *, daily_api_key: str, daily_api_url: str = daily.API, aiohttp_session: Any):
        self.key, self.url = daily_api_key, daily_api_url

    async def create_room(self, params: Any) -> Any:
        if self.fails == "create":
            raise RuntimeError("server-error")
        if params.name in self.has_rooms:
            raise RuntimeError(f"a room named {params.name} already exists")
        self.made.append(params)
        self.has_rooms.append(params.name)
        return SimpleNamespace(url=f"https://company.daily.co/{params.name}")

    async def get_token(self, url: str, seconds: float) -> str:
        if self.fails == "token":
            raise asyncio.CancelledError
        return f"token-for-{url.rpartition('/')[2]}"

    async def delete_room_by_url(self, url: str) -> None:
        self.deleted.append((url, self.key, self.url))
        if self.fails == "delete":
            raise RuntimeError("server-error")


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> type[DailyAPI]:
    class Fresh(DailyAPI):
        has_rooms, made, deleted = [], [], []

    monkeypatch.setattr(rooms, "DailyRESTHelper", Fresh)
    return Fresh


@pytest.fixture
def deleted(api: type[DailyAPI]) -> list[Any]:
    return api.deleted


async def test_a_call_gets_one_room(api: type[DailyAPI]) -> None:
    session: Any = None
    made = await daily.make_room(session, "CA1", "+1555")
    assert made and made[1] == "token-for-call-CA1"
    assert await daily.make_room(session, "CA1", "+1555") is None
    [params] = api.made
    assert params.name == "call-CA1" and params.properties.eject_at_room_exp
    assert 4 * 3600 - 5 < params.properties.exp - time.time() <= 4 * 3600
    assert params.properties.sip.display_name == "+1555" and params.properties.start_video_off
    assert api.deleted == []


async def test_a_call_whose_room_cannot_be_used_can_be_taken_again(api: type[DailyAPI]) -> None:
    api.fails = "token"
    with pytest.raises(asyncio.CancelledError):
        await daily.make_room(None, "CA1", "+1555")  # type: ignore[arg-type]
    assert [room for room, *_ in api.deleted] == ["https://company.daily.co/call-CA1"]
    api.fails = "create"
    with pytest.raises(RuntimeError, match="server-error"):
        await daily.make_room(None, "CA2", "+1555")  # type: ignore[arg-type]


OURS = (ROOM["room_url"], KEY, daily.API)
THEIRS = ("https://company.daily.co/b", "another-key", "https://api.daily.example/v1")


@pytest.mark.parametrize(
    ("arguments", "room"),
    [
        (RunnerArguments(body=signed(PSTN)), OURS),
        (RunnerArguments(body=signed(TWILIO)), OURS),
        (RunnerArguments(body=signed(PSTN, "another key")), None),
        (RunnerArguments(body=signed(PSTN, seconds=-1)), None),
        (RunnerArguments(body=DIALED_IN), None),  # which is not over Daily
        (DailyRunnerArguments(room_url=THEIRS[0], body=DIALED_IN), THEIRS),
        (DailyRunnerArguments(room_url=THEIRS[0], body={"customer": "Ada"}), None),  # a page
        (DailyRunnerArguments(room_url=THEIRS[0]), None),
    ],
)
@pytest.mark.parametrize("how", ["ends", "fails", "is kept"])
async def test_the_room_of_a_call_is_deleted_after_it(
    arguments: RunnerArguments, room: Any, how: str, deleted: list[Any]
) -> None:
    async def session() -> None:
        async with daily.room_of(arguments):
            assert deleted == []
            if how == "fails":
                raise ValueError("no")
            if how == "is kept":
                daily.keep_room(Transport())

    if how == "fails":
        with pytest.raises(ValueError, match="no"):
            await session()
    else:
        await session()
    is_kept = how == "is kept" and room == OURS
    assert deleted == ([room] if room and not is_kept else [])
    rooms._kept.clear()


async def test_a_room_that_cannot_be_deleted_is_in_the_log(
    api: type[DailyAPI], log: list[str]
) -> None:
    api.fails = "delete"
    await daily.delete_room(ROOM["room_url"], KEY)
    assert log == ["The room of the call was not deleted: server-error"]


# The development runner.

CALL, DIALIN, PAGE, ROOMS = "call", "dialin", "webrtc", "daily"


def runner(*transports: str) -> TestClient:
    """The runner, as far as requests get through."""
    app = FastAPI()
    daily.guard(app, transports)
    for path in ("/call", "/start", "/daily-dialin-webhook", "/api/offer"):
        app.add_api_route(path, lambda: "ok", methods=["POST"])
    for path in ("/status", "/daily", "/"):
        app.add_api_route(path, lambda: "ok", methods=["GET"])
    return TestClient(app)


@pytest.mark.parametrize(
    ("transports", "refused"),
    [
        ((CALL,), {"/start": 404, "/daily-dialin-webhook": 404, "/api/offer": 404}),
        ((CALL, PAGE), {"/daily-dialin-webhook": 404}),
        ((CALL, "eval"), {"/daily-dialin-webhook": 404}),
        ((CALL, ROOMS), {"/daily-dialin-webhook": 404}),
        ((DIALIN,), {}),
        ((DIALIN, ROOMS), {}),
    ],
)
def test_paths_are_open_to_those_who_need_them(
    transports: tuple[str, ...], refused: dict[str, int]
) -> None:
    client = runner(*transports)
    for path in ("/call", "/start", "/daily-dialin-webhook", "/api/offer"):
        status = client.post(path, json={"transport": "webrtc"}).status_code
        assert status == refused.get(path, 200), path
    only_calls = transports == (CALL,)
    assert client.get("/status").status_code == 200
    assert client.get("/").status_code == (404 if only_calls else 200)
    rooms = 200 if ROOMS in transports else 404 if only_calls else 401
    assert client.get("/daily").status_code == rooms


WANTS_ROOM: list[Any] = [
    {"createDailyRoom": True},
    {"createDailyRoom": True, "transport": None},
    {"transport": "daily"},
    ["createDailyRoom"],
]
WANTS_CALL: list[Any] = [{"createDailyRoom": False, "transport": "daily", "body": DIALED_IN}]


@pytest.mark.parametrize(
    ("transports", "wanted", "status"),
    [
        ((CALL, PAGE), WANTS_ROOM, 401),
        ((DIALIN, PAGE), WANTS_ROOM, 401),
        ((DIALIN,), WANTS_ROOM, 401),
        ((DIALIN, ROOMS), [["createDailyRoom"]], 401),
        ((DIALIN, ROOMS), WANTS_CALL, 401),
        ((DIALIN, ROOMS), WANTS_ROOM[:3], 200),
        ((CALL, ROOMS), [*WANTS_ROOM, *WANTS_CALL], 200),  # which the bot refuses
        ((CALL, PAGE), [{}, {"transport": "webrtc", "body": {"signature": 1}}], 200),
        ((DIALIN, ROOMS), [{}, {"body": None}, {"body": {"customer": "Ada"}}], 200),
    ],
)
def test_strangers_make_no_rooms_and_no_calls(
    transports: tuple[str, ...], wanted: list[Any], status: int
) -> None:
    client = runner(*transports)
    for body in wanted:
        assert client.post("/start", json=body).status_code == status, body
    assert client.post("/start", content=b"no json").status_code == 200  # as the runner has it


def test_webhooks_py_starts_the_bot() -> None:
    started: list[RunnerArguments] = []

    async def bot(arguments: RunnerArguments) -> None:
        started.append(arguments)

    app = FastAPI()
    daily.take_calls(app, bot)
    with TestClient(app) as client:
        body = signed(PSTN)
        assert client.post("/call", json=body).status_code == 200
        [arguments] = started
        assert arguments.body == body and len(arguments.session_id or "") == 36
        for other in (PSTN, DIALED_IN, signed(PSTN, "another key"), signed(PSTN, seconds=-1)):
            assert client.post("/call", json=other).status_code == 401
        assert client.post("/call", json=[]).status_code == 422
        assert len(started) == 1
