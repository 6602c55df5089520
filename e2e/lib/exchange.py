"""Stand-ins of carriers as a caller sees them: they ask a webhook what to do, and do that.

An `Exchange` executes the XML of one call, element by element, and keeps what the caller heard:
`bot`, `dial NUMBER`, `say LANGUAGE: SENTENCE`, `hang up`. Elements that it does not know, and
attributes that its documentation does not have, fail the test.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from xml.etree import ElementTree

import aiohttp
from aiohttp import web

import socket_clients
from phones import (
    PhoneCaller,
    PlivoAPI,
    PlivoCaller,
    TelnyxAPI,
    TelnyxCaller,
    TwilioAPI,
    TwilioCaller,
)
from socket_clients import SocketCaller
from standins import Service

Says = Callable[[Any], Awaitable[None]]  # what a caller does while the bot has the call
RINGS = {"timeout"}  # of <Dial>, which may have them


class Exchange(Service):
    """A carrier and its API. `answers` says whether somebody answers the numbers that it dials."""

    caller: type[PhoneCaller]
    speak = "Say"
    streams: dict[str, str] = {}  # attributes of <Stream>, beside the address

    def __init__(self, answers: bool = True) -> None:
        super().__init__()
        self.answers = answers
        self.heard: list[str] = []
        self.parameters: dict[str, str] = {}
        self._line: SocketCaller | None = None
        self._instead: str | None = None  # XML with which the call goes on
        self._over = False

    async def request(self, url: str, form: dict[str, str], headers: dict[str, str]) -> str | None:
        """The XML of the webhook's response; None for an error, or without a response."""
        try:
            async with aiohttp.ClientSession() as http:
                async with http.post(url, data=form, headers=headers) as response:
                    return await response.text() if response.status == 200 else None
        except aiohttp.ClientConnectionError:
            return None

    async def call(self, xml: str | None, says: Says, otherwise: str = "") -> list[str]:
        """Execute the XML, or the number's fallback if there is none. Return what was heard."""
        rest = list(ElementTree.fromstring(xml if xml is not None else otherwise))
        while rest and not self._over:
            element = rest.pop(0)
            await self._execute(element, says)
            if self._instead is not None:
                rest, self._instead = list(ElementTree.fromstring(self._instead)), None
        self.heard.append("hang up")
        return self.heard

    async def _execute(self, element: ElementTree.Element, says: Says) -> None:
        match element.tag:
            case "Connect":
                [stream] = element
                await self._stream(stream, says)
            case "Stream":
                await self._stream(element, says)
            case "Dial":
                assert element.attrib.keys() <= RINGS | {"callerId"}, element.attrib
                assert 5 <= int(element.attrib["timeout"]) <= 60
                [number] = element
                assert number.tag == "Number", number.tag
                self.heard.append(f"dial {number.text}")
                self._over = self.answers  # the call ends with theirs
            case self.speak:
                assert element.attrib.keys() == {"language"}, element.attrib
                self.heard.append(f"say {element.attrib['language']}: {element.text}")
            case "Pause":
                self.heard.append(f"pause {element.attrib['length']}")
            case _:
                raise AssertionError(f"no such element: {element.tag}")

    async def _stream(self, stream: ElementTree.Element, says: Says) -> None:
        rest = dict(stream.attrib)
        url = rest.pop("url", None) or (stream.text or "").strip()
        assert rest == self.streams, rest
        self.parameters = {p.attrib["name"]: p.attrib["value"] for p in stream.iter("Parameter")}
        try:
            carrier = type("Told", (self.caller.carrier,), {"parameters": self.parameters})
            line = type("Line", (self.caller,), {"path": "", "carrier": carrier})
            async with socket_clients.call(line, url) as caller:
                self._line = caller
                self.heard.append("bot")
                caller.over = True
                await says(caller)
        except aiohttp.WSServerHandshakeError as error:
            self.heard.append(f"no bot: {error.status}")
        except aiohttp.ClientConnectionError:
            self.heard.append("no bot")
        self._line = None

    async def _go_on(self, xml: str | None) -> None:
        """End the stream: the API has been asked to, with the XML that follows, or to hang up."""
        self._instead, self._over = xml, xml is None
        if self._line:
            asyncio.get_running_loop().call_later(0.1, asyncio.ensure_future, self._line.ws.close())


class TwilioExchange(Exchange):
    """https://www.twilio.com/docs/voice/twiml/connect says that the rest of the TwiML is executed
    when the server closes the WebSocket."""

    name, host, caller, path = TwilioAPI.name, TwilioAPI.host, TwilioCaller, TwilioAPI.path

    def __init__(self, token: str, answers: bool = True, status: int = 200) -> None:
        super().__init__(answers)
        self.authorization = TwilioAPI(TwilioCaller.account, token).authorization
        self.status = status

    async def handle(self, request: web.Request) -> web.StreamResponse:
        place = (request.method, request.path)
        self.expect(place == ("POST", self.path), f"no such path: {place}")
        self.expect(request.headers.get("Authorization") == self.authorization, "wrong key")
        form = {key: str(value) for key, value in (await request.post()).items()}
        self.note("update", **form)
        if self.status != 200:
            return web.json_response({"code": 20500, "message": "no"}, status=self.status)
        self.expect(form.keys() in ({"Twiml"}, {"Status"}), f"form: {form}")
        await self._go_on(form.get("Twiml"))
        return web.json_response({"sid": TwilioCaller.call})


class TelnyxExchange(Exchange):
    """https://developers.telnyx.com/docs/voice/programmable-voice/texml-verbs/connect"""

    name, host, caller = TelnyxAPI.name, TelnyxAPI.host, TelnyxCaller
    streams = {"bidirectionalMode": "rtp"}

    def __init__(self, key: str, answers: bool = True) -> None:
        super().__init__(answers)
        self.authorization = TelnyxAPI(key).authorization

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.expect(request.headers.get("Authorization") == self.authorization, "wrong key")
        if request.path == TelnyxAPI.path:
            await self._go_on(None)
        else:
            transfer = TelnyxAPI.path.replace("/hangup", "/transfer")
            self.expect(request.path == transfer, f"no such path: {request.path}")
            self.note("transfer", **await request.json())
        return web.json_response({"data": {"result": "ok"}})


class PlivoExchange(Exchange):
    """https://www.plivo.com/docs/voice/xml/audio-streaming says that what follows a stream with
    keepCallAlive is executed when that is disconnected."""

    name, host, caller, speak = PlivoAPI.name, PlivoAPI.host, PlivoCaller, "Speak"
    streams = {
        "bidirectional": "true",
        "keepCallAlive": "true",
        "contentType": "audio/x-mulaw;rate=8000",
    }

    def __init__(self, user: str, token: str, answers: bool = True) -> None:
        super().__init__(answers)
        api = PlivoAPI(user, token)
        self.path, self.authorization = api.path, api.authorization

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.expect(request.path == self.path, f"no such path: {request.path}")
        self.expect(request.headers.get("Authorization") == self.authorization, "wrong key")
        if request.method == "DELETE":
            await self._go_on(None)
            return web.Response(status=204)
        self.note("transfer", **await request.json())
        return web.json_response({"message": "call transferred"}, status=202)
