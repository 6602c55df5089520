"""Carriers: who may send calls to the bot, and what they are told to do with them."""

import base64
import hmac
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any
from unittest import mock
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from fastapi import APIRouter, HTTPException
from pipecat.runner.types import WebSocketRunnerArguments
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocketDisconnect

from fakes import SENTENCES
from hosting_fakes import Bot, served
from vbot.hosting import carriers, plivo, telnyx, twilio
from vbot.hosting.sessions import Sessions

TOKEN, OLD = "f00d" * 16, "0" * 16
URL = "https://bot.example.com"
FALLBACK = "+15557650000"
ROUTERS = {"twilio": twilio.router, "telnyx": telnyx.router, "plivo": plivo.router}
SETTINGS = {
    "BOT_PUBLIC_URL": URL,
    "PHONE_TOKEN": f"{TOKEN},{OLD}",
    "PLIVO_AUTH_TOKEN": "a-plivo-token",
    "TWILIO_AUTH_TOKEN": "a-twilio-token",
}


@pytest.fixture(autouse=True)
def with_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DOMAIN", "FALLBACK_NUMBER", "MAX_SESSION_SECONDS", "POD_IP"):
        monkeypatch.delenv(name, raising=False)
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(carriers, "guesses", carriers.Guesses())


def by_twilio(
    path: str, form: Mapping[str, str] | None = None, key: str = "a-twilio-token"
) -> dict[str, str]:
    """https://www.twilio.com/docs/usage/security#validating-requests"""
    fields = "".join(name + value for name, value in sorted((form or {}).items()))
    scheme = URL.replace("http", "ws", 1) if path.startswith("/ws") else URL
    code = hmac.digest(
        (key or "a-twilio-token").encode(), f"{scheme}{path}{fields}".encode(), "sha1"
    )
    return {"X-Twilio-Signature": base64.b64encode(code).decode()}


def by_plivo(path: str, form: Mapping[str, str], key: str = "a-plivo-token") -> dict[str, str]:
    """https://www.plivo.com/docs/voice/concepts/signature-validation"""
    fields = "".join(f"{name}{form[name]}" for name in sorted(form))
    # Of a query, Plivo signs the decoded text, and puts a dot between it and the fields.
    text = f"{URL}{unquote(path)}{'.' if '?' in path else '?'}{fields}.n"
    code = base64.b64encode(hmac.digest(key.encode(), text.encode(), "sha256")).decode()
    return {"X-Plivo-Signature-V3": code, "X-Plivo-Signature-V3-Nonce": "n"}


def bot_of(*names: str, capacity: int = 4) -> tuple[TestClient, Sessions, Bot]:
    routers: list[APIRouter] = [ROUTERS[name] for name in names if name in ROUTERS]
    return served(carriers.router, *routers, transports=names, capacity=capacity)


def answered(client: TestClient, path: str, form: dict[str, str], headers: Any) -> tuple[int, str]:
    response = client.post(path, data=form, headers=headers)
    return response.status_code, response.text


def otherwise(element: str = "Say") -> str:
    return f'<{element} language="en-US">{SENTENCES.busy}</{element}>'


RING = {"From": "+15551234567", "To": "+1&5"}


def test_twilio_is_told_to_stream_the_call() -> None:
    path = f"/twilio/{TOKEN}"
    client, _, _ = bot_of("twilio")
    numbers = (
        '<Parameter name="from_number" value="+15551234567"/>'
        '<Parameter name="to_number" value="+1&amp;5"/>'
    )
    stream = f'<Connect><Stream url="wss://bot.example.com/ws/{TOKEN}">{numbers}</Stream></Connect>'
    xml = f"<Response>{stream}{otherwise()}</Response>"
    assert answered(client, path, RING, by_twilio(path, RING)) == (200, xml)
    ElementTree.fromstring(xml)
    # An anonymous caller has no number.
    status, xml = answered(client, path, {}, by_twilio(path))
    assert status == 200 and "Parameter" not in xml
    # New calls get the first token, whichever is in the webhook.
    path = f"/twilio/{OLD}"
    assert f"/ws/{TOKEN}" in answered(client, path, {}, by_twilio(path))[1]
    # Twilio may add a slash to an address that ends in a host or a path.
    slash = by_twilio(path + "/")
    assert answered(client, path, {}, slash)[0] == 200


@pytest.mark.parametrize(
    ("path", "form", "headers"),
    [
        (f"/twilio/{TOKEN}", RING, {}),
        (f"/twilio/{TOKEN}", RING, by_twilio(f"/twilio/{TOKEN}", RING, "another")),
        (f"/twilio/{TOKEN}", RING, by_twilio(f"/twilio/{TOKEN}")),
        (f"/twilio/{TOKEN}", RING, by_twilio(f"/twilio/{OLD}", RING)),
        (f"/twilio/{TOKEN}", RING, {"X-Twilio-Signature": b"\xc3\xa9"}),
        (f"/twilio/{'1' * 16}", RING, by_twilio(f"/twilio/{'1' * 16}", RING)),
        ("/twilio/%C3%A9", RING, by_twilio("/twilio/\u00e9", RING)),
        (f"/telnyx/{'1' * 16}", {}, {}),
        ("/plivo", RING, {}),
        ("/plivo", RING, by_plivo("/plivo", RING, "another")),
        ("/plivo", RING, by_plivo("/plivo", RING | {"To": "1"})),
        ("/plivo/dial/+1555", RING, by_plivo("/plivo", RING)),
    ],
)
def test_a_request_of_nobody_is_refused(path: str, form: dict[str, str], headers: Any) -> None:
    client, sessions, _ = bot_of("twilio", "telnyx", "plivo")
    assert answered(client, path, form, headers)[0] == 403
    assert sessions.count() == 0


@pytest.mark.parametrize("missing", ["TWILIO_AUTH_TOKEN", "BOT_PUBLIC_URL"])
def test_without_a_key_or_an_address_nothing_can_be_checked(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(missing)
    client, _, _ = bot_of("twilio")
    status, xml = answered(client, f"/twilio/{TOKEN}", RING, {"X-Twilio-Signature": "x"})
    host = "bot.example.com" if missing == "TWILIO_AUTH_TOKEN" else "testserver"
    assert status == 200 and f'url="wss://{host}/ws/{TOKEN}"' in xml


def test_telnyx_is_told_to_stream_the_call() -> None:
    stream = f'<Stream bidirectionalMode="rtp" url="wss://bot.example.com/ws/{TOKEN}"/>'
    xml = f"<Response><Connect>{stream}</Connect>{otherwise()}</Response>"
    assert answered(bot_of("telnyx")[0], f"/telnyx/{TOKEN}", {}, {}) == (200, xml)


def test_plivo_is_told_to_stream_the_call() -> None:
    """Its socket does not say who calls, so that is in the address."""
    client, _, _ = bot_of("plivo")
    how = 'bidirectional="true" keepCallAlive="true" contentType="audio/x-mulaw;rate=8000"'
    for form, numbers in ((RING, "/+15551234567/+15"), ({"From": "anonymous", "To": "1"}, "")):
        stream = f"<Stream {how}>wss://bot.example.com/ws/{TOKEN}{numbers}</Stream>"
        xml = f"<Response>{stream}{otherwise('Speak')}</Response>"
        assert answered(client, "/plivo", form, by_plivo("/plivo", form)) == (200, xml)


@pytest.mark.parametrize("shows", ["", "+15550001111"])
def test_plivo_is_told_to_connect_a_call(shows: str) -> None:
    client, _, _ = bot_of("plivo")
    path = f"/plivo/dial/{FALLBACK}" + (f"?caller_id=%2B{shows[1:]}" if shows else "")
    status, xml = answered(client, path, RING, by_plivo(path, RING))
    caller_id = f' callerId="{shows}"' if shows else ""
    assert (status, xml) == (
        200,
        f'<Response><Dial timeout="25"{caller_id}><Number>{FALLBACK}</Number></Dial>'
        '<Speak language="en-US">Nobody is here &amp; answers.</Speak></Response>',
    )


def test_a_bot_that_is_full_sends_the_call_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    client, sessions, _ = bot_of("telnyx", capacity=0)
    path = f"/telnyx/{TOKEN}"
    assert answered(client, path, {}, {}) == (200, f"<Response>{otherwise()}</Response>")
    monkeypatch.setenv("FALLBACK_NUMBER", FALLBACK)
    status, xml = answered(client, path, {}, {})
    assert status == 200 and f'<Response><Dial timeout="25"><Number>{FALLBACK}' in xml
    monkeypatch.setenv("POD_IP", "10.1.2.3")  # the router asks another pod
    assert answered(client, path, {}, {})[0] == 503


def connects(client: TestClient, path: str, headers: dict[str, str] | None = None) -> int:
    """Return 101, or the status with which a socket is refused."""
    try:
        with client.websocket_connect(path, headers=headers or {}) as socket:
            with pytest.raises(WebSocketDisconnect):
                socket.receive_text()
    except WebSocketDenialResponse as refusal:
        return refusal.status_code
    return 101


def test_only_the_carrier_knows_the_address_of_the_socket() -> None:
    client, sessions, bot = bot_of("exotel")
    for token, status in (
        (TOKEN, 101),
        (OLD, 101),
        ("wrong", 403),
        (f"{TOKEN}x", 403),
        ("\u00e9", 403),
    ):
        assert connects(client, f"/ws/{token}") == status, token
    assert len(bot.sessions) == 2
    assert connects(client, f"/ws/{TOKEN}/+1555/+1666") == 101
    arguments = bot.sessions[-1]
    assert isinstance(arguments, WebSocketRunnerArguments) and arguments.transport_type is None
    assert arguments.body == {"from_number": "+1555", "to_number": "+1666"}
    assert bot.sessions[0].body == {}
    full, _, _ = bot_of("exotel", capacity=0)
    assert connects(full, f"/ws/{TOKEN}") == 503


def test_a_call_may_be_shorter_than_a_visit() -> None:
    client, sessions, _ = bot_of("exotel")
    with mock.patch.object(sessions, "reserve", wraps=sessions.reserve) as reserve:
        connects(client, f"/ws/{TOKEN}")
    reserve.assert_called_once_with(is_call=True)


@pytest.mark.parametrize("others", [(), ("telnyx",), ("exotel",), ("webrtc", "eval")])
def test_twilio_signs_its_sockets(others: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """One without a signature is of another carrier, if the bot has another."""
    client, _, _ = bot_of("twilio", *others)
    path = f"/ws/{TOKEN}"
    has_others = others in (("telnyx",), ("exotel",))
    assert connects(client, path, by_twilio(path)) == 101
    assert connects(client, path, by_twilio(path, key="another")) == 403
    assert connects(client, path) == (101 if has_others else 403)
    monkeypatch.delenv("TWILIO_AUTH_TOKEN")
    assert connects(client, path, {"X-Twilio-Signature": "x"}) == 101


def test_a_bot_without_twilio_does_not_look_for_its_signature() -> None:
    client, _, _ = bot_of("telnyx")
    assert connects(client, f"/ws/{TOKEN}", {"X-Twilio-Signature": "x"}) == 101


@pytest.mark.parametrize(
    ("token", "right"),
    [(TOKEN, True), (f"{TOKEN},{OLD}", True), ("short", False), (f"{TOKEN},", False)]
    + [("with spaces in it...", False), (f"{TOKEN}\u00e9", False), (None, True)],
)
def test_the_token_can_be_part_of_an_address(
    token: str | None, right: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if token is None:  # then settings.require says that it is missing
        monkeypatch.delenv("PHONE_TOKEN")
    else:
        monkeypatch.setenv("PHONE_TOKEN", token)
    assert (carriers.problems() == []) == right


def test_guesses_at_the_token_are_limited_by_address(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(monotonic=lambda: 600.0)
    monkeypatch.setattr(carriers, "time", clock)
    client, _, _ = served(telnyx.router, transports=["telnyx"])

    def asks(token: str, address: str) -> int:
        headers = {"X-Forwarded-For": address}
        return client.post(f"/telnyx/{token}", headers=headers).status_code

    assert [asks(f"guess-{n}", "1.2.3.4") for n in range(12)] == [403] * 10 + [429] * 2
    assert asks(TOKEN, "1.2.3.4") == 429  # or guessing would go on
    assert asks(TOKEN, "5.6.7.8") == 200
    # Somebody makes a carrier ask with wrong tokens; its calls for this bot go on.
    assert [asks("another", "5.6.7.8") for _ in range(20)] == [403] * 20
    assert asks(TOKEN, "5.6.7.8") == asks(OLD, "5.6.7.8") == 200
    clock.monotonic = lambda: 660.0
    assert asks("another", "1.2.3.4") == 403 and asks(TOKEN, "1.2.3.4") == 200


def test_few_addresses_of_guesses_are_remembered() -> None:
    guesses = carriers.Guesses()
    guesses.most = 3
    for n in range(10):
        guesses.check(f"right-{n}", is_right=True)
        with pytest.raises(HTTPException):
            guesses.check(f"wrong-{n}", is_right=False)
    assert list(guesses._known) == ["right-7", "right-8", "right-9"]
    assert len(guesses._wrong) == 3
