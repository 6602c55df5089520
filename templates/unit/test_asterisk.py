"""Calls of Asterisk: its messages, who may connect, and how a call ends or goes on.

The messages are those that a real Asterisk sent.
"""

import asyncio
import audioop
import base64
import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fastapi import FastAPI, HTTPException
from pipecat.frames.frames import (
    CancelFrame,
    EndFrame,
    InputAudioRawFrame,
    InputDTMFFrame,
    InterruptionFrame,
    OutputAudioRawFrame,
    OutputTransportMessageFrame,
)
from pipecat.runner.types import RunnerArguments, WebSocketRunnerArguments
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocketDisconnect

from fakes import SENTENCES, Line, passing
from vbot import asterisk, calls, facts, local, transports
from vbot.asterisk import development
from vbot.asterisk.calls import call_data
from vbot.asterisk.serializer import AsteriskFrameSerializer, OneReader, read_event
from vbot.recording import recorder

START = (
    "MEDIA_START connection_id:bot channel:WebSocket/bot/0x7f4664005300 "
    "channel_id:1795899695.1 format:slin16 optimal_frame_size:640 ptime:20"
)
QUERY = "from=%2B4930123&to=100&channel=PJSIP%2Fcaller-00000001&customer=Ada%20L."
LOGIN = {"Authorization": "Basic " + base64.b64encode(b"asterisk:secret").decode()}
ARI = {
    "ASTERISK_ARI_URL": "http://pbx:8088/ari/",
    "ASTERISK_ARI_USER": "bot",
    "ASTERISK_ARI_PASSWORD": "ari-secret",
}
VARIABLES = (*ARI, "PHONE_TOKEN", "ASTERISK_PASSWORD", "SERVER_API_KEY", "FALLBACK_NUMBER")


@pytest.fixture(autouse=True)
def without_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def ari(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """What Asterisk's REST interface is asked."""
    asked = list[tuple[str, dict[str, Any]]]()

    async def post(url: str, **request: Any) -> None:
        asked.append((url, request))

    for name, value in ARI.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(calls, "post", post)
    return asked


class Wire:
    """Asterisk's end of the WebSocket."""

    def __init__(self, *messages: str | bytes, query: str = QUERY) -> None:
        self.url = SimpleNamespace(query=query)
        self.sent: list[str | bytes] = []
        self.messages = asyncio.Queue[dict[str, Any]]()
        for message in messages:
            self.say(message)
        self.readers = 0

    def say(self, message: str | bytes) -> None:
        kind = "text" if isinstance(message, str) else "bytes"
        self.messages.put_nowait({"type": "websocket.receive", kind: message})

    async def receive(self) -> dict[str, Any]:
        assert not self.readers, "two tasks read, which the server refuses"
        self.readers += 1
        try:
            return await self.messages.get()
        finally:
            self.readers -= 1

    async def send_text(self, text: str) -> None:
        self.sent.append(text)

    async def send_bytes(self, data: bytes) -> None:
        self.sent.append(data)


def serializer(
    wire: Any = None, media: str = "slin16", rate: int = 16000, as_json: bool = False
) -> AsteriskFrameSerializer:
    socket: Any = wire or Wire()
    made = AsteriskFrameSerializer(OneReader(socket), media, rate, as_json)
    asyncio.run(made.setup(SimpleNamespace(audio_in_sample_rate=16000)))  # type: ignore
    return made


def tone(rate: int, seconds: float = 0.04) -> bytes:
    wave = 8000 * np.sin(np.arange(int(rate * seconds)) * 2 * np.pi * 440 / rate)
    return wave.astype(np.int16).tobytes()


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ("MEDIA_XOFF", {"event": "MEDIA_XOFF"}),
        ("MEDIA_MARK_PROCESSED m1", {"event": "MEDIA_MARK_PROCESSED", "correlation_id": "m1"}),
        ("DTMF_END digit:5 channel_id:1.1", {"event": "DTMF_END", "digit": "5"}),
        (
            '{"event":"DTMF_END","channel_id":"1.1","digit":"#"}',
            {"event": "DTMF_END", "digit": "#"},
        ),
        ("[1]", {"event": "[1]"}),
        ("{", {}),
        ("{}", {}),
    ],
)
def test_messages(text: str, event: dict[str, Any]) -> None:
    assert read_event(text).items() >= event.items()


def test_what_is_known_of_a_call() -> None:
    data = call_data(read_event(START), QUERY)
    assert (data.call_id, data.from_number, data.to_number) == ("1795899695.1", "+4930123", "100")
    assert (data["format"], data["sample_rate"]) == ("slin16", 16000)
    assert data["channel"] == "PJSIP/caller-00000001" and not data["is_outgoing"]
    assert data.body == {"customer": "Ada L."}
    # A caller without a number, and a message of JSON, which has the channel's variables.
    said = {"event": "MEDIA_START", "format": "ulaw", "channel_variables": {"QUEUE": "sales"}}
    data = call_data(read_event(json.dumps(said)), "from=&to=100&call=out")
    assert (data.from_number, data["sample_rate"]) == (None, 8000)
    assert data["is_outgoing"] and data.body == {"QUEUE": "sales"}


@pytest.mark.parametrize(
    ("text", "said"),
    [("HELLO", "in place of MEDIA_START"), (START.replace("slin16", "opus"), r"one of c\(ulaw\)")],
)
def test_what_cannot_be_understood(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        call_data(read_event(text), "")


@pytest.mark.parametrize(
    ("media", "rate", "size"),
    [("ulaw", 8000, 320), ("alaw", 8000, 320), ("slin", 8000, 640), ("slin16", 16000, 1280)],
)
def test_sound_in_both_directions(media: str, rate: int, size: int) -> None:
    """A second stays a second, and a tone a tone."""
    line, to_pcm = (
        serializer(None, media, rate),
        {"ulaw": audioop.ulaw2lin, "alaw": audioop.alaw2lin},
    )
    pcm = tone(rate)

    async def both_ways() -> tuple[Any, list[Any]]:
        sent: Any = await line.serialize(OutputAudioRawFrame(pcm, rate, 1))
        return sent, [await line.deserialize(sent) for _ in range(25)]

    sent, heard = asyncio.run(both_ways())
    assert len(sent) == size
    decoded = to_pcm[media](sent, 2) if media in to_pcm else sent
    assert np.abs(np.frombuffer(decoded, "<i2").astype(int) - np.frombuffer(pcm, "<i2")).max() < 400
    frames = [frame for frame in heard if frame]
    assert {(type(frame), frame.sample_rate) for frame in frames} == {(InputAudioRawFrame, 16000)}
    assert 0.9 < sum(len(frame.audio) for frame in frames) / 2 / 16000 <= 1.0


def test_a_message_has_whole_frames() -> None:
    """Asterisk plays 160 bytes of a message of 200, and drops the others."""
    line = serializer(None, "ulaw", 8000)
    sent: Any = asyncio.run(line.serialize(OutputAudioRawFrame(tone(8000, 0.025), 8000, 1)))
    assert len(sent) == 320 and sent[200:] == b"\xff" * 120  # silence


@pytest.mark.parametrize("as_json", [False, True])
def test_an_interruption_drops_what_is_queued(as_json: bool) -> None:
    sent: Any = asyncio.run(serializer(as_json=as_json).serialize(InterruptionFrame()))
    assert sent == ('{"command": "FLUSH_MEDIA"}' if as_json else "FLUSH_MEDIA")


def test_keys_of_the_caller() -> None:
    line = serializer()
    keys = [asyncio.run(line.deserialize(f"DTMF_END digit:{key} channel_id:1")) for key in "5*#A"]
    assert [isinstance(key, InputDTMFFrame) and key.button.value for key in keys] == [
        "5",
        "*",
        "#",
        False,
    ]


def test_other_frames_send_nothing() -> None:
    frame = OutputTransportMessageFrame(message={"label": "rtvi-ai"})
    assert asyncio.run(serializer().serialize(frame)) is None


def test_a_full_queue_holds_sound_back() -> None:
    line = serializer()
    frame = OutputAudioRawFrame(tone(16000), 16000, 1)

    async def sends() -> list[bool]:
        await line.deserialize("MEDIA_XOFF")
        sending = asyncio.create_task(line.serialize(frame))
        await asyncio.sleep(30)
        waited = not sending.done()
        interrupts = await line.serialize(InterruptionFrame())  # is not held back
        await line.deserialize("MEDIA_XON")
        return [waited, interrupts == "FLUSH_MEDIA", len(str(await sending)) > 100]

    assert passing(sends()) == [True, True, True]


def test_the_call_ends_when_the_goodbye_was_played() -> None:
    """Others read meanwhile, until the transport stops reading."""

    async def ends() -> Any:
        wire = Wire(b"\0" * 640, "MEDIA_XOFF", b"\0" * 640)
        line = AsteriskFrameSerializer(OneReader(wire), "slin16", 16000)  # type: ignore
        await line.setup(SimpleNamespace(audio_in_sample_rate=16000))  # type: ignore
        ending = asyncio.create_task(line.serialize(EndFrame()))
        await asyncio.sleep(5)
        before = (wire.sent, ending.done())
        wire.say("MEDIA_MARK_PROCESSED last-word")
        return before, await ending, await line.serialize(CancelFrame())

    assert passing(ends()) == ((["MARK_MEDIA last-word"], False), "HANGUP", None)


@pytest.mark.parametrize("gone", [True, False])
def test_a_goodbye_that_nobody_hears_ends_all_the_same(gone: bool) -> None:
    async def ends() -> Any:
        wire = Wire()
        if gone:
            wire.messages.put_nowait({"type": "websocket.disconnect", "code": 1000})
        line = AsteriskFrameSerializer(OneReader(wire), "slin16", 16000)  # type: ignore
        return await line.serialize(EndFrame())

    assert passing(ends()) == "HANGUP"


def test_one_task_reads_at_a_time() -> None:
    """The transport's task is cancelled while it reads; then the serializer goes on."""

    async def reads() -> str:
        wire = Wire()
        socket = OneReader(wire)  # type: ignore
        line = AsteriskFrameSerializer(socket, "slin16", 16000)
        first = asyncio.create_task(socket.receive())
        await asyncio.sleep(0)
        ending = asyncio.create_task(line.serialize(EndFrame()))
        await asyncio.sleep(1)
        first.cancel()
        wire.say("MEDIA_MARK_PROCESSED last-word")
        return str(await ending)

    assert passing(reads()) == "HANGUP"


def test_a_session_that_is_cancelled_leaves_the_call_to_the_dialplan() -> None:
    """A close frame would look like HANGUP: Asterisk gives both the cause 16."""
    sent: Any = asyncio.run(serializer().serialize(CancelFrame()))
    assert len(sent) > 65_535  # which Asterisk refuses, with cause 38


def session(wire: Wire) -> WebSocketRunnerArguments:
    socket: Any = wire
    return asterisk.arguments_of(socket, "the-session")


def parameters() -> dict[str, Any]:
    made = FastAPIWebsocketParams(audio_in_enabled=True, audio_out_enabled=True)
    return {"asterisk": lambda: made}


async def created(wire: Wire) -> tuple[WebSocketRunnerArguments, Any]:
    arguments = session(wire)
    return arguments, await transports.create_transport(arguments, parameters())


def test_the_transport_has_the_rate_of_the_line() -> None:
    arguments, transport = asyncio.run(created(Wire(b"\0" * 640, START)))
    assert transport._params.audio_out_sample_rate == 16000
    assert recorder(arguments)._init_sample_rate == 16000  # as good as the line
    call = calls.call_of(arguments, transport)
    assert isinstance(call, calls.AsteriskCall) and not call.is_outgoing
    assert facts.numbers_of(arguments) == {"from": "+4930123", "to": "100"}
    assert 'customer: "Ada L."' in facts.facts_about(arguments, "customer")


def test_nothing_comes() -> None:
    with pytest.raises(ValueError, match="MEDIA_START is missing"):
        passing(created(Wire()))


def call_of(wire: Wire) -> calls.Call:
    arguments, transport = asyncio.run(created(wire))
    call, line = calls.call_of(arguments, transport), Line()
    assert call
    call.attach(line, line, SENTENCES)  # type: ignore
    return call


def breaks(sent: list[Any]) -> bool:
    return [len(message) > 65_535 for message in sent] == [True]


def test_without_ari_the_dialplan_has_one_next_line() -> None:
    left, connected = Wire(START), Wire(START)
    assert asyncio.run(call_of(left).leave())
    asyncio.run(call_of(connected).connect("201"))
    assert breaks(left.sent) and breaks(connected.sent)


def test_with_ari_the_bot_chooses_the_extension(ari: list[Any]) -> None:
    wire = Wire(START)
    call = call_of(wire)
    assert not asyncio.run(call.leave())  # so that FALLBACK_NUMBER counts
    asyncio.run(call.connect("201"))
    [(url, request)] = ari
    assert url == "http://pbx:8088/ari/asterisk/variable"
    wanted = {"variable": "SHARED(BOT_NEXT,PJSIP/caller-00000001)", "value": "201"}
    assert request["params"] == wanted
    assert request["auth"].login == "bot" and breaks(wire.sent)


@pytest.mark.parametrize(
    ("query", "number", "said"),
    [
        ("", "201", "is missing in the dialplan"),
        ("channel=a)b", "201", "is missing in the dialplan"),
        (QUERY, "201,1)", "is no extension"),
    ],
)
def test_what_ari_is_not_asked(query: str, number: str, said: str, ari: list[Any]) -> None:
    wire = Wire(START, query=query)
    with pytest.raises(RuntimeError, match=said):
        asyncio.run(call_of(wire).connect(number))
    assert not ari and not wire.sent


class Served:
    """bot.py's app, whose bot notes its sessions and takes what the caller says first."""

    def __init__(self) -> None:
        self.app, self.sessions = FastAPI(), list[RunnerArguments]()
        development.serve(self.app, self.bot)
        self.client = TestClient(self.app)

    async def bot(self, arguments: RunnerArguments) -> None:
        self.sessions.append(arguments)

    def status(self, path: str = "/asterisk", headers: dict[str, str] | None = None) -> int:
        """The status of the refusal, or 101."""
        try:
            with self.client.websocket_connect(
                path, headers=headers or {}, subprotocols=["media"]
            ) as ws:
                assert ws.accepted_subprotocol == "media"
                assert len(ws.receive_bytes()) > 65_535  # the bot has not ended the call
                with pytest.raises(WebSocketDisconnect):
                    ws.receive_bytes()
        except WebSocketDenialResponse as refused:
            return refused.status_code
        return 101


def test_on_ones_own_machine_no_password_is_needed() -> None:
    served = Served()
    assert served.status() == served.status("/asterisk/any") == 101
    [first, _] = served.sessions
    assert isinstance(first, WebSocketRunnerArguments)
    assert first.transport_type == "asterisk" and first.cli_args
    assert served.status(headers={"Origin": "https://example.com"}) == 403  # a page


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/asterisk/0123456789abcdef", LOGIN, 101),
        ("/asterisk/fedcba9876543210", LOGIN, 101),
        ("/asterisk/0123456789abcdef", {}, 401),
        ("/asterisk/0123456789abcdef", {"Authorization": "Basic x"}, 401),
        ("/asterisk/another", LOGIN, 403),
        ("/asterisk/%C3%A9", LOGIN, 403),
        ("/asterisk", LOGIN, 403),
    ],
)
def test_who_may_connect(
    path: str, headers: dict[str, str], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PHONE_TOKEN", "fedcba9876543210,0123456789abcdef")
    monkeypatch.setenv("ASTERISK_PASSWORD", "secret")
    assert Served().status(path, headers) == status


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "::1"])
def test_own_addresses_need_nothing(host: str) -> None:
    asterisk.check_address(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "pbx.example.com"])
def test_other_machines_need_a_token_and_a_password(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit, match="Set PHONE_TOKEN and ASTERISK_PASSWORD in .env"):
        asterisk.check_address(host)
    monkeypatch.setenv("PHONE_TOKEN", "0123456789abcdef")
    with pytest.raises(SystemExit, match="Set ASTERISK_PASSWORD in .env"):
        asterisk.check_address(host)
    monkeypatch.setenv("ASTERISK_PASSWORD", "secret")
    asterisk.check_address(host)


KEY = {"Authorization": "Bearer a-key"}


def asked(body: Any, headers: dict[str, str] = KEY) -> tuple[int, str]:
    response = Served().client.post("/dialout", json=body, headers=headers)
    return response.status_code, response.text


def test_a_call_out(ari: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVER_API_KEY", "a-key")
    wanted = {"phone_number": "+4930123", "data": {"customer": "Ada, & co", "order": 7}}
    assert asked(wanted) == (200, '{"status":"started"}')
    [(url, request)] = ari
    assert url == "http://pbx:8088/ari/channels"
    assert request["json"]["endpoint"] == "Local/+4930123@bot-out/n"
    assert "callerId" not in request["json"]  # the telephone shows what the dialplan sets
    told = request["json"]["variables"]["BOT_CALL"]
    assert told == "call=out,to=%2B4930123,customer=Ada%2C%20%26%20co,order=7"
    # So Asterisk sends it as the query.
    data = call_data(read_event(START), told.replace(",", "&"))
    assert data["is_outgoing"] and data.to_number == "+4930123"
    assert data.body == {"customer": "Ada, & co", "order": "7"}


def test_what_the_telephone_shows(ari: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVER_API_KEY", "a-key")
    assert asked({"phone_number": "201", "caller_id": "+4930100"})[0] == 200
    [(_, request)] = ari
    assert request["json"]["callerId"] == "+4930100"


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"phone_number": "1;DROP"}, 422, "string_pattern_mismatch"),
        ({"phone_number": "201", "caller_id": '"A" <1>'}, 422, "string_pattern_mismatch"),
        ({"phone_number": "200", "data": {"to": "201"}}, 422, "names of the call itself: to"),
        ({"phone_number": "200", "data": {"a": "x" * 1000}}, 422, "data is too long"),
        ({"phone_number": "200", "data": {"a,b": 1}}, 422, "string_pattern_mismatch"),
        ({"phone_number": "200", "to": 1}, 422, "extra_forbidden"),
    ],
)
def test_calls_that_are_not_made(
    body: Any, status: int, said: str, ari: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVER_API_KEY", "a-key")
    code, text = asked(body)
    assert code == status and said in text and not ari


def test_who_may_ask_for_calls(ari: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked({"phone_number": "200"})[0] == 501
    monkeypatch.setenv("SERVER_API_KEY", "a-key")
    for headers in ({}, {"Authorization": "Bearer another"}, {"Authorization": "Basic a-key"}):
        assert asked({"phone_number": "200"}, headers)[0] == 401
    assert not ari


def test_without_ari_no_call_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVER_API_KEY", "a-key")
    status, text = asked({"phone_number": "200"})
    assert status == 501 and "set ASTERISK_ARI_URL, ASTERISK_ARI_USER" in text


def test_asterisk_refuses_the_call(ari: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuses(url: str, **request: Any) -> None:
        raise RuntimeError("400 no such endpoint")

    monkeypatch.setenv("SERVER_API_KEY", "a-key")
    monkeypatch.setattr(calls, "post", refuses)
    assert asked({"phone_number": "200"})[0] == 502


@pytest.mark.parametrize("takes_asterisk", [True, False])
def test_the_runner_knows_the_transport(takes_asterisk: bool, capsys: Any) -> None:
    parser = local.Arguments(lambda: None, takes_asterisk=takes_asterisk)
    parser.add_argument("-t", "--transport", choices=["daily"])
    parser.add_argument("--host", default="localhost")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--direct")
    if takes_asterisk:
        assert parser.parse_args(["-t", "asterisk"]).transport == "asterisk"
        return
    with pytest.raises(SystemExit):
        parser.parse_args(["-t", "asterisk"])
    assert "invalid choice" in capsys.readouterr().err


def test_a_bot_for_other_machines_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["bot.py", "--host", "0.0.0.0"])
    with pytest.raises(SystemExit, match="Set PHONE_TOKEN and ASTERISK_PASSWORD"):
        Served()


def test_the_check_of_a_token_for_bot_py(monkeypatch: pytest.MonkeyPatch) -> None:
    from vbot.asterisk.access import check_token

    check_token("any")
    monkeypatch.setenv("PHONE_TOKEN", "0123456789abcdef")
    with pytest.raises(HTTPException):
        check_token("")
