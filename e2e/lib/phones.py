"""People who call a bot by telephone, and the APIs of the companies that carry the call.

A caller is the carrier's end of the media WebSocket, which is in vbot/testing/people of a project.
It plays what it receives in real time, as a carrier queues speech until it is told to drop it. So
`heard` is what the person hears.

    async with call(TwilioCaller, bot.url) as caller:
        await caller.hear("Hello!")

The bot asks the APIs to hang up.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

import speech
from caller import EAR, until
from socket_clients import SocketCaller
from stand_ins import Bot, Phone, Script
from standins import Service
from vbot.testing.people.asterisk import AsteriskCaller as AsteriskLine
from vbot.testing.people.exotel import ExotelCaller as ExotelLine
from vbot.testing.people.plivo import PlivoCaller as PlivoLine
from vbot.testing.people.telnyx import TelnyxCaller as TelnyxLine
from vbot.testing.people.twilio import TwilioCaller as TwilioLine


class PhoneCaller(SocketCaller):
    """Somebody with a telephone, at the end of the carrier's line."""

    path, rate = Phone.path, Phone.rate
    carrier: type[Phone]

    def __init__(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        super().__init__(ws)
        self.line = self.carrier(Bot("", Path()), Script())
        self.line.ws = ws
        self.sent = bytearray()  # all that the bot said, without the gaps of a machine that is busy
        self.cleared: list[int] = []  # where in `heard` the bot had the rest dropped

    async def begin(self) -> None:
        await self.line.begin()

    async def end(self) -> None:
        await self.line.end()

    async def send_audio(self, pcm: bytes) -> None:
        size = len(pcm)  # as much as is sent is played
        played = bytes(self.line.queue[:size]).ljust(size, b"\0")
        self.heard += speech.resample(played, self.rate, EAR)
        await self.line.send_audio(pcm)

    async def listens(self) -> None:
        """Wait until the bot has been heard for about a second."""
        await until(lambda: speech.loudness(self.heard[-2 * EAR :]) > 1500, 20)

    def received(self, data: Any) -> None:
        message = json.loads(data)
        self.messages.append(message | {"type": message["event"]})
        dropped, queued = self.line.dropped, len(self.line.queue)
        self.line.received(data)
        if self.line.dropped > dropped:
            self.cleared.append(len(self.heard))
        self.sent += self.line.queue[queued:]

    def sound(self) -> bytes:
        return speech.resample(bytes(self.sent), self.rate, EAR)


class TwilioCaller(PhoneCaller):
    carrier, call, account = TwilioLine, TwilioLine.call, TwilioLine.account


class TelnyxCaller(PhoneCaller):
    carrier, call = TelnyxLine, TelnyxLine.call


class PlivoCaller(PhoneCaller):
    """Plivo closes the connection without a last message, whichever side hangs up."""

    carrier, call = PlivoLine, PlivoLine.call


class ExotelCaller(PhoneCaller):
    carrier = ExotelLine


class AsteriskCaller(PhoneCaller):
    """Asterisk says with a cause what its dialplan does next: see `AsteriskLine`."""

    line: AsteriskLine
    path, rate, protocols = AsteriskLine.path, AsteriskLine.rate, AsteriskLine.protocols
    carrier = AsteriskLine

    def received(self, data: Any) -> None:
        dropped, queued = self.line.dropped, len(self.line.queue)
        self.line.received(data)
        if self.line.dropped > dropped:
            self.cleared.append(len(self.heard))
        self.sent += self.line.queue[queued:]


# --- the APIs --------------------------------------------------------------------------------


class CarrierAPI(Service):
    """A carrier's API, which can end its only call once, or redirect it."""

    method: str
    path: str
    authorization: str

    async def handle(self, request: web.Request) -> web.StreamResponse:
        place = (request.method, request.path)
        self.expect(place == (self.method, self.path), f"no such path: {place}")
        self.expect(request.headers.get("Authorization") == self.authorization, "wrong key")
        self.expect(not self.notes, "the call has ended already")
        self.note("hang up")
        return await self.hang_up(request)

    async def hang_up(self, request: web.Request) -> web.StreamResponse:
        raise NotImplementedError


class TwilioAPI(CarrierAPI):
    """https://www.twilio.com/docs/voice/api/call-resource#update-a-call-resource

    `user` is the account with its token, or an API key with its secret; `wanted`, what is to
    become of the call.
    """

    name, host, method = "twilio", "api.twilio.com", "POST"
    path = f"/2010-04-01/Accounts/{TwilioCaller.account}/Calls/{TwilioCaller.call}.json"

    def __init__(
        self, user: str, password: str, wanted: Mapping[str, str] = {"Status": "completed"}
    ) -> None:
        super().__init__()
        self.authorization = aiohttp.encode_basic_auth(user, password)
        self.wanted = wanted

    async def hang_up(self, request: web.Request) -> web.StreamResponse:
        form = dict(await request.post())
        self.expect(form == self.wanted, f"form: {form}")
        return web.json_response({"sid": TwilioCaller.call, "status": "completed"})


class TelnyxAPI(CarrierAPI):
    """https://developers.telnyx.com/api-reference/call-commands/hangup-call"""

    name, host, method = "telnyx", "api.telnyx.com", "POST"
    path = f"/v2/calls/{TelnyxCaller.call}/actions/hangup"

    def __init__(self, key: str) -> None:
        super().__init__()
        self.authorization = f"Bearer {key}"

    async def hang_up(self, request: web.Request) -> web.StreamResponse:
        self.expect(await request.text() in ("", "{}"), "options that nobody knows")
        return web.json_response({"data": {"result": "ok"}})


class PlivoAPI(CarrierAPI):
    """https://www.plivo.com/docs/voice/api/call/hangup-a-call"""

    name, host, method = "plivo", "api.plivo.com", "DELETE"

    def __init__(self, user: str, token: str) -> None:
        super().__init__()
        self.path = f"/v1/Account/{user}/Call/{PlivoCaller.call}/"
        self.authorization = aiohttp.encode_basic_auth(user, token)

    async def hang_up(self, request: web.Request) -> web.StreamResponse:
        return web.Response(status=204)
