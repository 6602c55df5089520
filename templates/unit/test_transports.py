"""Each session gets the transport that TRANSPORTS has for it; a call, only if it is genuine."""

import asyncio
import sys
from types import ModuleType
from typing import Any

import pytest
from fastapi import HTTPException
from pipecat.runner import types, utils
from pipecat.transports.base_transport import TransportParams

from fakes import Line
from vbot import calls, create_transport, facts

Room = types.DailyRunnerArguments
DIALED_IN = {"dialin_settings": {"call_id": "1", "call_domain": "2"}}
SIGNED = {"signature": "genuine"}


class SignedCall(calls.Call):
    """As in vbot/daily, which is not here."""

    @classmethod
    def authentic(cls, body: Any) -> "SignedCall":
        if body != SIGNED:
            raise HTTPException(401)
        return cls()

    def transport(self, params: Any) -> Any:
        return Joined(self, {"call": params})


class DialinCall(calls.Call):
    def __init__(self, transport: Any) -> None:
        self.line = transport


class Joined(Line):
    """A transport, with what it was made of."""

    def __init__(self, arguments: Any, transports: Any) -> None:
        super().__init__()
        self.arguments, self.transports = arguments, transports


@pytest.fixture
def daily(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = ModuleType("vbot.daily")
    module.Call, module.DialinCall = SignedCall, DialinCall
    monkeypatch.setitem(sys.modules, "vbot.daily", module)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> None:
    """The framework makes a transport of everything."""

    async def create(arguments: Any, transports: Any) -> Joined:
        return Joined(arguments, transports)

    monkeypatch.setattr(utils, "create_transport", create)


def transports(*words: str) -> Any:
    return {word: lambda word=word: word for word in words}


async def test_a_call_of_webhooks(daily: None) -> None:
    arguments = types.RunnerArguments(body=SIGNED)
    line: Any = await create_transport(arguments, transports("call", "webrtc"))
    assert line.transports == {"call": "call"}  # its parameters
    assert isinstance(calls.call_of(arguments, line), SignedCall)
    assert facts.is_over_daily(arguments)


@pytest.mark.parametrize("arguments", [types.RunnerArguments, lambda **o: Room("https://a", **o)])
async def test_a_call_of_a_stranger(daily: None, made: None, arguments: Any) -> None:
    with pytest.raises(HTTPException):
        await create_transport(arguments(body={"signature": "x"}), transports("call", "daily"))


@pytest.mark.parametrize("body", [{"signature": "x"}, SIGNED, DIALED_IN, {}, None, "text"])
async def test_what_a_visitor_sends_makes_no_call(made: None, body: Any) -> None:
    arguments = types.SmallWebRTCRunnerArguments(webrtc_connection=None, body=body)
    line: Any = await create_transport(arguments, transports("webrtc", "dialin"))
    assert line.transports.keys() == {"webrtc", "dialin"}
    assert calls.call_of(arguments, line) is None


async def test_a_call_that_daily_takes(daily: None, made: None) -> None:
    arguments = Room("https://a", body=DIALED_IN)
    line: Any = await create_transport(arguments, transports("dialin", "daily"))
    assert [made() for made in line.transports.values()] == ["dialin"]
    call = calls.call_of(arguments, line)
    assert isinstance(call, DialinCall) and call.line is line
    assert facts.is_over_daily(arguments)


async def test_a_page_of_a_bot_that_takes_calls(daily: None, made: None) -> None:
    arguments = Room("https://a", body={"customer": "Al"})
    line: Any = await create_transport(arguments, transports("dialin", "daily"))
    assert line.transports["daily"]() == "daily"
    assert calls.call_of(arguments, line) is None


async def test_a_page_of_a_bot_that_takes_no_calls(made: None) -> None:
    """Whatever it sends."""
    arguments = Room("https://a", body=DIALED_IN | SIGNED)
    line: Any = await create_transport(arguments, transports("daily"))
    assert calls.call_of(arguments, line) is None
    assert not facts.is_over_daily(arguments)


async def test_a_call_leaves_nothing_behind(daily: None) -> None:
    line = await create_transport(types.RunnerArguments(body=SIGNED), transports("call"))
    before = len(calls.of_transport)
    del line
    assert len(calls.of_transport) == before - 1


@pytest.mark.parametrize(
    ("words", "kind", "by_runner", "expected"),
    [
        (("websocket",), None, False, "websocket"),
        (("websocket", "webrtc"), None, False, "websocket"),
        (("websocket", "twilio"), None, False, None),  # the framework asks who connects
        (("twilio",), None, False, None),
        (("websocket", "eval"), None, True, None),
        (("websocket",), "websocket", False, "websocket"),
    ],
)
async def test_a_websocket_without_a_word_about_it(
    made: None, words: tuple[str, ...], kind: str | None, by_runner: bool, expected: str | None
) -> None:
    """As Pipecat Cloud has them."""
    socket: Any = None
    arguments = types.WebSocketRunnerArguments(websocket=socket, transport_type=kind)
    arguments.cli_args = Any if by_runner else None  # type: ignore
    await create_transport(arguments, transports(*words))
    assert arguments.transport_type == expected


class Phone:
    """Twilio says first who calls."""

    async def iter_text(self) -> Any:
        yield '{"event": "connected"}'
        yield '{"event": "start", "start": {"streamSid": "a", "callSid": "b"}}'


PHONE: Any = Phone()


@pytest.mark.parametrize(
    ("arguments", "came"),
    [
        (types.RunnerArguments(), "with RunnerArguments"),
        (types.LiveKitRunnerArguments("a", "ws://localhost", "b"), "over livekit"),
        (types.WebSocketRunnerArguments(websocket=PHONE), "over twilio"),
    ],
)
def test_a_bot_says_which_transports_it_has(arguments: Any, came: str) -> None:
    with pytest.raises(ValueError) as refused:
        asyncio.run(create_transport(arguments, {"webrtc": TransportParams, "daily": list}))
    assert str(refused.value) == (
        f"This bot serves sessions over webrtc, daily; this one came {came}. "
        "Use one of these, or add an entry to TRANSPORTS in bot.py."
    )


async def test_other_failures_stay_as_they_are() -> None:
    def fail() -> None:
        raise ValueError("of the parameters")

    with pytest.raises(ValueError, match="^of the parameters$"):
        await create_transport(Room("https://a"), {"daily": fail})
