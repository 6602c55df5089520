"""Stands in for the APIs of carriers, which the bot asks to connect a call to somebody else.

`carrier.next` is what the caller hears after the bot, such as ["dial +15551234567", "say Nobody
can take your call."]: a carrier goes on with the next one if nobody answers. "bot" is the bot
again. `await carrier.fail(404)` has the carrier refuse.

Asterisk's REST interface (ARI) counts as one. Without ARI, the bot asks nobody, and the dialplan
goes on: then `carrier.next` stays empty, and `caller.cause` becomes 38.
"""

import re
import xml.etree.ElementTree as ElementTree
from typing import Any

from aiohttp import web

import vbot.calls
from vbot.testing.stand_in import Service

VARIABLE = "CARRIERS_STAND_IN"  # has the stand-in's address
ARI = {
    "ASTERISK_ARI_URL": "http://asterisk.test/ari",
    "ASTERISK_ARI_USER": "test-asterisk-ari-user",
    "ASTERISK_ARI_PASSWORD": "test-asterisk-ari-password",
}
actual = vbot.calls.post


def steps_of(xml: str) -> list[str]:
    """What a caller hears by a carrier's XML."""
    steps = []
    for element in ElementTree.fromstring(xml):
        text = " ".join(word.strip() for word in element.itertext()).strip()
        steps.append(f"{element.tag.lower()} {text}".replace("speak ", "say ", 1))
    return steps


class Carriers(Service):
    """Twilio, Telnyx, Plivo and Asterisk, with one call."""

    def clear(self) -> None:
        super().clear()
        self.next: list[str] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        host, _, path = request.path.removeprefix("/").partition("/")
        self.expect(request.headers.get("Authorization"), f"{host} was sent no key")
        if host.endswith("twilio.com"):
            self.next = await self._twilio(path, request)
        elif host == "api.telnyx.com":
            self.next = await self._telnyx(path, request)
        elif host == "api.plivo.com":
            self.next = await self._plivo(path, request)
        elif not path.endswith("/channels"):  # which is a call out
            self.next = self._asterisk(path, request)
        self.requests.append({"host": host, "path": f"/{path}"})
        return web.json_response({})

    async def _twilio(self, path: str, request: web.Request) -> list[str]:
        """https://www.twilio.com/docs/voice/api/call-resource#update-a-call-resource"""
        self.expect(path.startswith("2010-04-01/Accounts/") and "/Calls/CA" in path, path)
        form = await request.post()
        return steps_of(str(form["Twiml"]))

    async def _telnyx(self, path: str, request: web.Request) -> list[str]:
        """https://developers.telnyx.com/api-reference/call-commands/transfer-call"""
        self.expect(path.startswith("v2/calls/") and path.endswith("/actions/transfer"), path)
        wanted: dict[str, Any] = await request.json()
        return [f"dial {wanted['to']}", "bot"]

    async def _plivo(self, path: str, request: web.Request) -> list[str]:
        """https://www.plivo.com/docs/voice/api/call/transfer-a-call"""
        self.expect(path.startswith("v1/Account/") and "/Call/" in path, path)
        wanted: dict[str, Any] = await request.json()
        return [f"XML of {wanted['aleg_url']}"]

    def _asterisk(self, path: str, request: web.Request) -> list[str]:
        """The variable by which the dialplan goes on, as DEPLOY.md has it.

        https://docs.asterisk.org/Latest_API/API_Documentation/Asterisk_REST_Interface/
        """
        self.expect(path.endswith("/asterisk/variable"), path)
        variable = request.query.get("variable", "")
        self.expect(re.fullmatch(r"SHARED\(BOT_NEXT,\S+\)", variable), f"variable: {variable}")
        return [f"dial {request.query['value']}"]


def ask_here(address: str) -> None:
    """Have vbot.calls send what is for a carrier to the stand-in at HOST:PORT."""

    async def post(url: str, **request: Any) -> None:
        await actual(f"http://{address}/{url.partition('://')[2]}", **request)

    vbot.calls.post = post
