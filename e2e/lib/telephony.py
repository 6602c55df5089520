"""Stand-ins for calls over Daily: Daily's REST API, and the servers that run bots.

`signature` is the signature that Twilio adds to its requests.
"""

import asyncio
import base64
import hashlib
import hmac
import json
import re
import signal
import subprocess
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aiohttp import web

import bots
from standins import Service, StandIns

DAILY_SESSION = Path(__file__).parent / "daily_session.py"


def signature(token: str, url: str, form: Mapping[str, str]) -> str:
    """https://www.twilio.com/docs/usage/security#validating-requests"""
    signed = url + "".join(name + form[name] for name in sorted(form))
    code = hmac.new(token.encode(), signed.encode(), hashlib.sha1)
    return base64.b64encode(code.digest()).decode()


async def in_daily_session(
    project: bots.Project, services: StandIns, timeout: float, **session: Any
) -> subprocess.CompletedProcess[str]:
    """Run a session of daily_session.py, which explains SESSION, while these services run."""
    async with services:
        env = bots.plain_env() | services.env | {"UV_OFFLINE": "1"}
        env["REQUESTS_CA_BUNDLE"] = services.env["SSL_CERT_FILE"]
        env["PYTHONPATH"] = f"{project.server}:{env.get('PYTHONPATH', '')}"
        command = ("uv", "run", "python", "-P", DAILY_SESSION, json.dumps(session))
        done = await asyncio.to_thread(
            bots.run, *command, cwd=project.server, env=env, timeout=timeout, nice=0
        )
    killed = 128 + signal.SIGKILL
    assert done.returncode == (killed if session.get("dies") else 0), done.stderr
    return done


def signed(call: dict[str, Any], key: str, seconds: int = 60) -> dict[str, Any]:
    """The signed data of a call that webhooks.py sends to the bot, with this key and lifetime."""
    call = call | {"until": int(time.time()) + seconds}
    text = json.dumps(call, separators=(",", ":"), ensure_ascii=False).encode()
    return call | {"signature": hmac.new(key.encode(), text, hashlib.sha256).hexdigest()}


class Daily(Service):
    """Creates rooms and meeting tokens. It can have faults.

    https://docs.daily.co/reference/rest-api
    """

    name, host = "daily", "api.daily.co"

    def __init__(self, key: str):
        super().__init__()
        self.key = key
        self.in_order = True
        self.rooms: set[str] = set()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.expect(request.headers.get("Authorization") == f"Bearer {self.key}", "wrong key")
        if request.method == "DELETE":  # of a room, whose call has ended
            room = request.path.removeprefix("/v1/rooms/")
            self.expect(re.fullmatch(r"[\w-]+", room), f"no such path: {request.path}")
            self.note("delete", room=room)
            self.rooms.discard(room)
            return web.json_response({"deleted": True})
        self.expect(request.method == "POST", f"method {request.method}")
        body = await request.json()
        self.note(request.path.removeprefix("/v1/"), **body)
        if not self.in_order:
            return web.json_response({"error": "server-error", "info": "try later"}, status=500)
        if request.path == "/v1/rooms":
            return self._room(body)
        self.expect(request.path == "/v1/meeting-tokens", f"no such path: {request.path}")
        self.expect(body["properties"].get("room_name"), "a token for any room")
        return web.json_response({"token": f"token-for-{body['properties']['room_name']}"})

    def _room(self, body: dict[str, Any]) -> web.StreamResponse:
        config = dict(body["properties"])
        if body["name"] in self.rooms:
            info = f"a room named {body['name']} already exists"
            return web.json_response({"error": "invalid-request-error", "info": info}, status=400)
        self.rooms.add(body["name"])
        self.expect(config.get("exp"), "a room that stays for ever")
        if sip := config.get("sip"):
            self.expect(sip["display_name"] and sip["sip_mode"] == "dial-in", f"SIP: {sip}")
            config["sip_uri"] = {"endpoint": f"{body['name']}@sip.daily.example"}
        room = {
            "id": str(uuid.uuid4()),
            "name": body["name"],
            "api_created": True,
            "privacy": body.get("privacy", "public"),
            "url": f"https://company.daily.co/{body['name']}",
            "created_at": "2026-01-26T09:01:22.000Z",
            "config": config,
        }
        return web.json_response(room)


class Rooms(Service):
    """The host at which Daily's native client looks up a room to join, without success."""

    name, host = "rooms", "gs.daily.co"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        before = "/rooms/check/company/"
        self.expect(request.path.startswith(before), f"no such path: {request.path}")
        self.note("look up", room=request.path.removeprefix(before))
        return web.json_response({"error": "not-found"}, status=404)


class Runner(Service):
    """bot.py on some machine, only for starting sessions. It can have faults."""

    name, host = "runner", "bots.example"
    url = "https://bots.example"

    def __init__(self) -> None:
        super().__init__()
        self.in_order = True

    async def handle(self, request: web.Request) -> web.StreamResponse:
        place = (request.method, request.path)
        self.expect(place == ("POST", "/call"), f"no such path: {place}")
        return self.start(await request.json())

    def start(self, call: dict[str, Any]) -> web.StreamResponse:
        self.note("start", **call)
        if not self.in_order:
            return web.json_response({"detail": "no capacity"}, status=503)
        return web.json_response({"sessionId": str(uuid.uuid4())})


class Cloud(Runner):
    """Pipecat Cloud, where the bot is deployed as `agent`."""

    name, host = "cloud", "api.pipecat.daily.co"

    def __init__(self, agent: str, key: str):
        super().__init__()
        self.agent, self.key = agent, key

    async def handle(self, request: web.Request) -> web.StreamResponse:
        place = (request.method, request.path)
        self.expect(place == ("POST", f"/v1/public/{self.agent}/start"), f"no such path: {place}")
        self.expect(request.headers.get("Authorization") == f"Bearer {self.key}", "wrong key")
        body = await request.json()
        unknown = body.keys() - {"createDailyRoom", "dailyRoomProperties", "body"}
        self.expect(not unknown, f"fields that the API does not have: {unknown}")
        # The room exists already; another one would be paid for and stay empty.
        self.expect(body.get("createDailyRoom") is False, "a second room")
        return self.start(body["body"])
