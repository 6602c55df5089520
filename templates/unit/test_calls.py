"""A call is connected, and what each carrier is told for it."""

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from pipecat.frames.frames import (
    InterruptionFrame,
    LLMMessagesAppendFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.filters.identity_filter import IdentityFilter
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.runner.types import RunnerArguments
from pipecat.transports.base_output import BaseOutputTransport
from pipecat.transports.base_transport import TransportParams
from pipecat.workers.runner import WorkerRunner

from fakes import SENTENCES, Line, Voice, passing, streamed
from vbot import TransferFrame, calls, hang_up, realtime

NUMBER, OWN = "+15557650000", "+15557654321"
ENV = {
    "TWILIO_ACCOUNT_SID": "AC1",
    "TWILIO_AUTH_TOKEN": "a-token",
    "TELNYX_API_KEY": "a-telnyx-key",
    "PLIVO_AUTH_ID": "an-id",
    "PLIVO_AUTH_TOKEN": "a-plivo-token",
}
DIALED = (
    '<Dial timeout="25"><Number>+15557650000</Number></Dial>'
    '<Say language="en-US">Nobody is here &amp; answers.</Say>'
)
TWILIO = "https://api.twilio.com/2010-04-01/Accounts/AC1/Calls/a-call.json"


class API:
    """Takes down what is posted to carriers, or refuses it."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.refuses = False

    async def post(self, url: str, **request: Any) -> None:
        self.requests.append((url, request))
        if self.refuses:
            raise RuntimeError("400 no such call")


@pytest.fixture(autouse=True)
def api(monkeypatch: pytest.MonkeyPatch) -> API:
    for name in ("TWILIO_API_KEY", "TWILIO_EDGE", "TWILIO_REGION", "PLIVO_TRANSFER_URL"):
        monkeypatch.delenv(name, raising=False)
    for name in ("DOMAIN", "BOT_PUBLIC_URL", "FALLBACK_NUMBER"):
        monkeypatch.delenv(name, raising=False)
    for name, value in ENV.items():
        monkeypatch.setenv(name, value)
    api = API()
    monkeypatch.setattr(calls, "post", api.post)
    return api


def call_at(carrier: str, **options: Any) -> calls.Call:
    line: Any = Line()
    call = calls.call_of(streamed(carrier, **options), line)
    assert call
    call.attach(line, line, SENTENCES)
    return call


class Speaker(BaseOutputTransport):
    """Plays what the bot says, in as much time as it takes."""

    def __init__(self) -> None:
        super().__init__(TransportParams(audio_out_enabled=True, audio_out_sample_rate=16000))
        self.played = 0.0  # seconds

    async def start(self, frame: Any) -> None:
        await super().start(frame)
        await self.set_transport_ready(frame)

    async def write_audio_frame(self, frame: Any) -> bool:
        seconds = len(frame.audio) / 32000  # at 16,000 samples a second
        await asyncio.sleep(seconds)
        self.played += seconds
        return True


class Ending:
    """A bot that hangs up: whether the call has ended, and how much of a goodbye was played.

    The goodbye takes a second. The model that speaks has said its own before it calls the tool.
    """

    def __init__(self, realtime: bool) -> None:
        self.realtime, self.speaker, self.llm = realtime, Speaker(), IdentityFilter()
        middle = [] if realtime else [Voice()]
        self.worker = PipelineWorker(Pipeline([self.llm, *middle, self.speaker]))
        self.results: list[Any] = []

    async def take_result(self, result: Any, *, properties: Any) -> None:
        self.results.append((result, properties.run_llm))

    async def hang_up(self, interrupted_after: float | None = None) -> tuple[bool, float]:
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(self.worker)
        run = asyncio.create_task(runner.run())
        await asyncio.sleep(0.5)
        params: Any = SimpleNamespace(llm=self.llm, result_callback=self.take_result)
        if self.realtime:
            await self.llm.push_frame(TTSAudioRawFrame(b"\0" * 32000, 16000, 1))
            await realtime.hang_up(params)
        else:
            await hang_up(params, "Goodbye.")
        if interrupted_after is not None:
            await asyncio.sleep(interrupted_after)
            await self.worker.queue_frame(InterruptionFrame())
        await asyncio.sleep(20)
        has_ended = run.done()
        await self.worker.cancel()
        await run
        return has_ended, self.speaker.played


both = pytest.mark.parametrize("speaks", [False, True])


@both
def test_hanging_up(speaks: bool) -> None:
    """After the goodbye, which a model that speaks has said itself."""

    async def call() -> None:
        it = Ending(speaks)
        has_ended, played = await it.hang_up()
        assert has_ended and played >= 1
        assert it.results == [(calls.ENDS, False)]  # so the model says nothing more

    passing(call())


@both
def test_a_caller_who_speaks_during_the_goodbye_is_heard(speaks: bool) -> None:
    async def call() -> None:
        has_ended, played = await Ending(speaks).hang_up(interrupted_after=0.5)
        assert not has_ended and 0 < played < 1

    passing(call())


def test_who_calls() -> None:
    kinds = {name: type(call_at(name)) for name in ("twilio", "telnyx", "plivo", "exotel")}
    assert kinds == {
        "twilio": calls.TwilioCall,
        "telnyx": calls.TelnyxCall,
        "plivo": calls.PlivoCall,
        "exotel": calls.CarrierCall,
    }
    assert not any(call_at(name).is_outgoing for name in kinds)


def test_who_does_not_call() -> None:
    """Somebody at a page, whatever they send, and an eval."""
    for body in ({}, {"signature": "1"}, {"dialin_settings": {}}):
        assert calls.call_of(RunnerArguments(body=body), Line()) is None
    for word in ("websocket", "eval"):
        assert calls.call_of(streamed(word, call_id=None), Line()) is None


def test_a_call_over_daily_is_known_by_its_transport() -> None:
    line, call = Line(), calls.Call()
    calls.of_transport[line] = call
    assert calls.call_of(RunnerArguments(), line) is call
    assert calls.call_of(RunnerArguments(), Line()) is None


async def test_twilio(api: API, monkeypatch: pytest.MonkeyPatch) -> None:
    call = call_at("twilio")
    await call.connect(NUMBER)
    shown = DIALED.replace('"25"', '"25" callerId="+15557654321"')
    await call.connect(NUMBER, OWN)
    login = aiohttp.BasicAuth("AC1", "a-token")
    assert api.requests == [
        (TWILIO, {"auth": login, "data": {"Twiml": f"<Response>{xml}</Response>"}})
        for xml in (DIALED, shown)
    ]
    for name, value in {
        "TWILIO_API_KEY": "SK1",
        "TWILIO_API_SECRET": "a-secret",
        "TWILIO_EDGE": "dublin",
        "TWILIO_REGION": "ie1",
    }.items():
        monkeypatch.setenv(name, value)
    await call.connect(NUMBER)
    url, request = api.requests[-1]
    assert url == TWILIO.replace("api.twilio", "api.dublin.ie1.twilio")
    assert request["auth"] == aiohttp.BasicAuth("SK1", "a-secret")
    assert not await call.leave()


async def test_telnyx(api: API) -> None:
    call = call_at("telnyx")
    await call.connect(NUMBER)
    await call.connect(NUMBER, OWN)
    url = "https://api.telnyx.com/v2/calls/a-call/actions/transfer"
    headers = {"Authorization": "Bearer a-telnyx-key"}
    wanted = {"to": NUMBER, "timeout_secs": 25}
    assert api.requests == [
        (url, {"headers": headers, "json": wanted}),
        (url, {"headers": headers, "json": wanted | {"from": OWN}}),
    ]


async def test_plivo(api: API, monkeypatch: pytest.MonkeyPatch) -> None:
    call = call_at("plivo")
    with pytest.raises(RuntimeError, match="PLIVO_TRANSFER_URL"):
        await call.connect(NUMBER)
    monkeypatch.setenv("DOMAIN", "bot.example")
    await call.connect(NUMBER)
    await call.connect(NUMBER, OWN)
    monkeypatch.setenv("PLIVO_TRANSFER_URL", "https://own.example/xml")
    await call.connect(NUMBER)
    url = "https://api.plivo.com/v1/Account/an-id/Call/a-call/"
    login = aiohttp.BasicAuth("an-id", "a-plivo-token")
    dial = "https://bot.example/plivo/dial/%2B15557650000"
    assert api.requests == [
        (url, {"auth": login, "json": {"legs": "aleg", "aleg_url": xml, "aleg_method": "POST"}})
        for xml in (dial, f"{dial}?caller_id=%2B15557654321", "https://own.example/xml")
    ]


async def test_exotel(api: API) -> None:
    with pytest.raises(RuntimeError, match="exotel cannot connect a call to a number"):
        await call_at("exotel").connect(NUMBER)
    assert not api.requests


@pytest.mark.parametrize("carrier", ["telnyx", "plivo", "exotel"])
async def test_other_carriers_go_on_when_the_stream_is_closed(carrier: str) -> None:
    arguments = streamed(carrier)
    call = calls.call_of(arguments, Line())
    assert call and await call.leave()
    assert not arguments.websocket.is_open


def test_what_carriers_say_instead_of_the_bot(monkeypatch: pytest.MonkeyPatch) -> None:
    busy = '<Speak language="en-US">All lines are busy.</Speak>'
    assert calls.instead_of_the_bot(SENTENCES, "Speak") == busy
    monkeypatch.setenv("FALLBACK_NUMBER", NUMBER)
    assert calls.instead_of_the_bot(SENTENCES) == DIALED
    assert calls.say('"a" <b>', 'de"') == '<Say language=\'de"\'>"a" &lt;b&gt;</Say>'


def test_the_address_of_the_bot(monkeypatch: pytest.MonkeyPatch) -> None:
    assert calls.public_url() == ""
    monkeypatch.setenv("DOMAIN", "bot.example")
    assert calls.public_url() == "https://bot.example"
    monkeypatch.setenv("BOT_PUBLIC_URL", "https://other.example/")
    assert calls.public_url() == "https://other.example"


# --- transfers -------------------------------------------------------------------------------


class Mouth(FrameProcessor):
    """Takes down what is said, and what the model is told."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    async def process_frame(self, frame: Any, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        match frame:
            case TTSSpeakFrame(text=text):
                self.said.append(text)
                await asyncio.sleep(1)
            case LLMMessagesAppendFrame(messages=[message]):
                self.said.append(f"told: {message['content']}")  # type: ignore
        await self.push_frame(frame, direction)


class Transferring:
    """A conversation that is run by a pipeline, whose transfers a test asks for."""

    def __init__(self, arguments: Any, connecting: str = SENTENCES.connecting) -> None:
        line: Any = Line()
        self.mouth, self.arguments = Mouth(), arguments
        self.worker = PipelineWorker(Pipeline([line.input(), self.mouth, line.output()]))
        call = calls.call_of(arguments, line)
        if call:
            call.attach(line, self.worker, SENTENCES)
        self.transfers = calls.Transfers(self.worker, call, connecting)

    async def __aenter__(self) -> "Transferring":
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(self.worker)
        self.run = asyncio.create_task(runner.run())
        await asyncio.sleep(1)
        return self

    async def __aexit__(self, *_: Any) -> None:
        await asyncio.sleep(5)  # what was queued has been said
        await self.worker.cancel()
        await self.run


@pytest.fixture
def fallback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FALLBACK_NUMBER", NUMBER)


def test_a_transfer_that_the_model_asks_for(api: API) -> None:
    async def call() -> list[str]:
        async with Transferring(streamed("twilio")) as it:
            await it.worker.queue_frames([TTSSpeakFrame("One moment."), TransferFrame(NUMBER)])
            await asyncio.sleep(0.5)
            assert not api.requests  # the sentence is not over
        return it.mouth.said

    assert passing(call()) == ["One moment."]
    assert [url for url, _ in api.requests] == [TWILIO]


NOBODY = ["told: Nobody can take the call. Tell the caller."]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (streamed("twilio"), "400 no such call"),
        (streamed("exotel"), "exotel cannot connect a call to a number"),
        (streamed("twilio", call_id=None), "this is not a telephone call"),
        (RunnerArguments(), "this is not a telephone call"),
    ],
)
def test_a_transfer_that_is_refused(api: API, log: list[str], arguments: Any, why: str) -> None:
    api.refuses = True

    async def call() -> list[str]:
        async with Transferring(arguments) as it:
            await it.worker.queue_frame(TransferFrame(NUMBER))
        return it.mouth.said

    assert passing(call()) == NOBODY
    assert f"The call was not put through: {why}" in log


def test_who_can_be_connected_to_the_fallback_number(fallback: None) -> None:
    async def found(arguments: Any) -> bool:
        return bool(Transferring(arguments).transfers.fallback)

    assert passing(found(streamed("twilio")))
    assert passing(found(streamed("exotel")))
    assert not passing(found(streamed("twilio", call_id=None)))
    assert not passing(found(RunnerArguments()))


async def test_without_a_number_there_is_no_fallback() -> None:
    assert Transferring(streamed("twilio")).transfers.fallback is None


def take_to_fallback(arguments: Any, connecting: str, aloud: bool) -> tuple[list[bool], list[str]]:
    async def call() -> tuple[list[bool], list[str]]:
        async with Transferring(arguments, connecting) as it:
            fallback = it.transfers.fallback
            assert fallback
            both = asyncio.gather(fallback(aloud), fallback(aloud))  # for two reasons
            taken = list(await both)
        return taken, it.mouth.said

    return passing(call())


@pytest.mark.parametrize("connecting", [SENTENCES.connecting, ""])
@pytest.mark.parametrize("aloud", [True, False])
def test_the_fallback_over_twilio(fallback: None, api: API, connecting: str, aloud: bool) -> None:
    taken, said = take_to_fallback(streamed("twilio"), connecting, aloud)
    assert taken == [True, True]
    assert said == ([connecting] if aloud and connecting else [])
    assert [url for url, _ in api.requests] == [TWILIO]  # once


@pytest.mark.parametrize("carrier", ["telnyx", "plivo", "exotel"])
def test_the_fallback_over_other_carriers(fallback: None, api: API, carrier: str) -> None:
    arguments = streamed(carrier)
    taken, said = take_to_fallback(arguments, SENTENCES.connecting, True)
    assert taken == [True, True] and said == [SENTENCES.connecting]
    assert not arguments.websocket.is_open and not api.requests


def test_a_carrier_that_refuses_the_fallback(fallback: None, api: API, log: list[str]) -> None:
    api.refuses = True
    taken, _ = take_to_fallback(streamed("twilio"), "", True)
    assert taken == [False, False]
    assert "The caller was not connected to FALLBACK_NUMBER: 400 no such call" in log


def test_a_model_that_speaks_transfers_also_when_the_fallback_is_refused(
    fallback: None, api: API
) -> None:
    async def call() -> None:
        async with Transferring(streamed("twilio"), "") as it:
            api.refuses = True
            assert it.transfers.fallback and not await it.transfers.fallback()
            api.refuses = False
            await it.worker.queue_frame(TransferFrame(OWN))

    passing(call())
    assert [OWN in str(request) for _, request in api.requests] == [False, True]


# --- requests --------------------------------------------------------------------------------


@pytest.fixture
async def carrier(unused_tcp_port: int) -> AsyncIterator[str]:
    """A server that takes one form."""

    async def take(request: web.Request) -> web.Response:
        form = dict(await request.post())
        if form == {"Twiml": "<Response/>"} and request.headers["Authorization"]:
            return web.Response(status=204)
        return web.Response(status=422, text="x" * 1000)

    app = web.Application()
    app.router.add_post("/call", take)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", unused_tcp_port).start()
    yield f"http://127.0.0.1:{unused_tcp_port}/call"
    await runner.cleanup()


async def test_requests(carrier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    login = aiohttp.BasicAuth("a", "b")
    await calls.post(carrier, auth=login, data={"Twiml": "<Response/>"})
    with pytest.raises(RuntimeError, match="^422 x{500}$"):
        await calls.post(carrier, auth=login, data={"Status": "completed"})
