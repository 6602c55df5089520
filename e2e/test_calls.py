"""Calls over Daily: the servers that start the bot for each, and the bots that take part.

A bot gets only as far as looking up its room, which its native client does, because what follows
needs Daily itself.
"""

import asyncio
import base64
import hmac
import json
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest

import bots
import network
import socket_clients
from caller import until
from conversation import GREETING, KEYS
from phones import TwilioAPI
from services import Cartesia, Deepgram, OpenAI
from socket_clients import WebSocketCaller
from standins import StandIns
from telephony import Cloud, Daily, Rooms, Runner, signature, signed

SERVICES = ["-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia"]
OWN = ("-t", "daily", "-t", "websocket", "--self-host")
DAILY_KEY, PASSWORD, TOKEN = "a-daily-key", "a-long-random-text", "a-twilio-token"
OURS = {"DAILY_API_KEY": DAILY_KEY}
OUT = OURS | {"SERVER_API_KEY": PASSWORD}
IN = OURS | {"TWILIO_ACCOUNT_SID": "AC" + "3" * 32, "TWILIO_AUTH_TOKEN": TOKEN}
BY_KEY = {"TWILIO_ACCOUNT_SID": IN["TWILIO_ACCOUNT_SID"], "TWILIO_API_KEY": "SK" + "4" * 32}
SECRET = {"TWILIO_API_SECRET": "a-twilio-secret"}
DEPLOYED = {"PIPECAT_AGENT_NAME": "an-agent", "PIPECAT_API_KEY": "a-public-key"}
SECRETS = [DAILY_KEY, PASSWORD, TOKEN, DEPLOYED["PIPECAT_API_KEY"]]

NUMBER, SIP = "+15551234567", "sip:alice@example.com"
CALL = {"CallSid": "CA" + "2" * 32, "From": NUMBER, "To": "+15557654321"}


@pytest.fixture(scope="module")
def pstn_out(vbot: Path) -> bots.Project:
    return bots.installed(vbot, "pstn_out", "-t", "daily_pstn_dialout", *SERVICES)


@pytest.fixture(scope="module")
def sip_out(vbot: Path) -> bots.Project:
    return bots.installed(vbot, "sip_out", "-t", "twilio_daily_sip_dialout", *SERVICES)


@pytest.fixture(scope="module")
def sip_in(vbot: Path) -> bots.Project:
    return bots.installed(vbot, "sip_in", "-t", "twilio_daily_sip_dialin", *SERVICES)


@pytest.fixture(scope="module")
def pstn_in(vbot: Path) -> bots.Project:
    return bots.installed(vbot, "pstn_in", "-t", "daily_pstn_dialin", *SERVICES)


# For one's own machines, and with more ways in.
@pytest.fixture(scope="module")
def own_out(vbot: Path) -> bots.Project:
    return bots.installed(vbot, "own_out", "-t", "twilio_daily_sip_dialout", *SERVICES, *OWN)


@pytest.fixture(scope="module")
def page_out(vbot: Path) -> bots.Project:
    """It has a page, too, and its rooms are only for calls."""
    transports = ("-t", "daily_pstn_dialout", "-t", "smallwebrtc")
    return bots.installed(vbot, "page_out", *transports, *SERVICES)


@pytest.fixture(scope="module")
def page_in(vbot: Path) -> bots.Project:
    """As page_out, for calls that Daily announces."""
    transports = ("-t", "daily_pstn_dialin", "-t", "smallwebrtc")
    return bots.installed(vbot, "page_in", *transports, *SERVICES)


@pytest.fixture(scope="module")
def own_in(vbot: Path) -> bots.Project:
    return bots.installed(vbot, "own_in", "-t", "daily_pstn_dialin", *SERVICES, *OWN)


Answer = tuple[int, Any]


async def post(url: str, headers: Mapping[str, str] | None = None, **body: Any) -> Answer:
    """Send a POST; return the status, and the text or the JSON of the response."""
    async with aiohttp.ClientSession() as http:
        async with http.post(url, headers=headers, **body) as response:
            text = await response.text()
            assert "Traceback" not in text
            assert not any(secret in text for secret in SECRETS), text
            return response.status, json.loads(text) if text.startswith("{") else text


async def ask(server: bots.Bot, wanted: Any, password: str | None = PASSWORD) -> Answer:
    """Ask for a call, as the README says."""
    headers = {} if password is None else {"Authorization": f"Bearer {password}"}
    return await post(f"{server.url}/dialout", headers, json=wanted)


async def ring(server: bots.Bot, form: Mapping[str, str] = CALL, token: str = TOKEN) -> Answer:
    """Tell the server about a call, as Twilio does."""
    url = f"{server.url}/call"
    return await post(url, {"X-Twilio-Signature": signature(token, url, form)}, data=form)


def asked(services: StandIns) -> list[list[dict[str, Any]]]:
    """The requests to Daily and to the server that runs the bot, so far."""
    return [services.requests(name) for name in ("daily", "runner", "cloud")]


def is_a_call(project: bots.Project, body: dict[str, Any]) -> None:
    """Check that bot.py accepts exactly this: all fields and no others, signed."""
    code = "import json, sys; from vbot.daily import Call; body = json.loads(sys.argv[1])"
    code += "; call = Call.authentic(body); assert set(type(call).model_fields) == set(body)"
    env = bots.networked_env() | OURS
    bots.must("uv", "run", "python", "-c", code, json.dumps(body), cwd=project.server, env=env)


def unsigned(call: dict[str, Any]) -> dict[str, Any]:
    """The data of a call from webhooks.py, valid for a minute, without its signature."""
    assert 50 <= call["until"] - time.time() <= 61 and len(call["signature"]) == 64
    return {name: value for name, value in call.items() if name not in ("until", "signature")}


def secrets_stay(server: bots.Bot) -> None:
    assert not any(secret in server.log for secret in SECRETS)


def outgoing(project: bots.Project) -> dict[str, str]:
    """The number that a project calls."""
    return {"phone_number": NUMBER} if project.folder.name == "pstn_out" else {"sip_uri": SIP}


@pytest.mark.parametrize("kind", ["pstn_out", "sip_out"])
def test_the_password_starts_a_call(kind: str, request: pytest.FixtureRequest) -> None:
    project: bots.Project = request.getfixturevalue(kind)
    project.write_env(**OUT, BOT_URL=Runner.url)
    wanted = outgoing(project)

    async def calls() -> None:
        async with StandIns(Daily(DAILY_KEY), Runner()) as services:
            async with project.webhook(services.env) as server:
                status, answer = await ask(server, wanted)
                [room] = services.requests("daily", "rooms")
                url = f"https://company.daily.co/{room['name']}"
                assert (status, answer) == (200, {"status": "started", "room_url": url})
                assert room["properties"]["enable_dialout"] is True
                [token] = services.requests("daily", "meeting-tokens")
                assert token["properties"]["is_owner"] is True  # only an owner may dial out
                [call] = services.requests("runner", "start")
                token_of = {"room_url": url, "token": f"token-for-{room['name']}"}
                assert unsigned(call) == token_of | wanted | {"data": {}}

                data = {"customer": "Ada", "visits": 3}
                assert (await ask(server, wanted | {"data": data}))[0] == 200
                assert services.requests("runner", "start")[-1]["data"] == data
                # A field that nobody would read is refused, and starts nothing.
                for unknown in ({"customer": "Ada"}, {"data": {"a": {"b": 1}}}):
                    assert (await ask(server, wanted | unknown))[0] == 422
                assert len(services.requests("runner", "start")) == 2

                before = asked(services)
                for password in (None, "", "wrong", PASSWORD[:-1], PASSWORD + " x", "pässword"):
                    assert (await ask(server, wanted, password))[0] == 401
                    # Whoever does not know it does not learn what would be right, either.
                    assert (await ask(server, {"phone_number": 1}, password))[0] == 401
                basic = "Basic " + base64.b64encode(f"user:{PASSWORD}".encode()).decode()
                answer = await post(f"{server.url}/dialout", {"Authorization": basic}, json=wanted)
                assert answer[0] == 401
                assert asked(services) == before

                assert server.errors() == []
                secrets_stay(server)
            assert services.names_asked() == services.hosts
        is_a_call(project, call)

    network.run(calls)


NO_NUMBERS = [
    *("15551234567", "+0551234567", "+1555", "+155512345678901234", "+1 555 123 4567", "+1555abc"),
    *(NUMBER + "\n", "", None, 15551234567, [NUMBER], "sip:alice@example.com"),
]
NO_ADDRESSES = [
    *("alice@example.com", "sip:alice", "sip:@example.com", "sip:a@b@c", "sip:a b@example.com"),
    *(SIP + "\n", "", None, 1, NUMBER, "http://alice@example.com"),
]


@pytest.mark.parametrize(("kind", "no"), [("pstn_out", NO_NUMBERS), ("sip_out", NO_ADDRESSES)])
def test_numbers_that_cannot_be_called_are_refused(
    kind: str, no: list[Any], request: pytest.FixtureRequest
) -> None:
    project: bots.Project = request.getfixturevalue(kind)
    project.write_env(**OUT, BOT_URL=Runner.url)
    [name] = outgoing(project)

    async def calls() -> None:
        async with StandIns(Daily(DAILY_KEY), Runner()) as services:
            async with project.webhook(services.env) as server:
                for value in no:
                    status, answer = await ask(server, {name: value})
                    assert status == 422, value
                    assert answer["detail"][0]["loc"] == [name]
                for whole in ({}, [], "+1"):
                    assert (await ask(server, whole))[0] == 422
                assert server.errors() == []
            assert asked(services) == [[], [], []]

    network.run(calls)


def test_calls_that_twilio_signed_are_taken(sip_in: bots.Project) -> None:
    sip_in.write_env(**IN, BOT_URL=Runner.url)

    async def calls() -> None:
        async with StandIns(Daily(DAILY_KEY), Runner()) as services:
            async with sip_in.webhook(services.env) as server:
                status, twiml = await ring(server)
                assert status == 200
                wait = '<Say language="en-US">One moment, please.</Say><Pause length="30"/>'
                busy = "All lines are busy right now. Please call again later."
                said = f'<Say language="en-US">{busy}</Say>'  # if the bot does not fetch the call
                assert twiml == f"<Response>{wait}{said}</Response>"
                [room] = services.requests("daily", "rooms")
                assert room["properties"]["sip"]["display_name"] == NUMBER
                [call] = services.requests("runner", "start")
                assert room["name"] == f"call-{CALL['CallSid']}"
                assert unsigned(call) == {
                    "room_url": f"https://company.daily.co/{room['name']}",
                    "token": f"token-for-{room['name']}",
                    "sip_uri": f"sip:{room['name']}@sip.daily.example",
                    "call_sid": CALL["CallSid"],
                    "caller": NUMBER,
                }

                # The same call again starts nothing, at this server or another.
                async with sip_in.webhook(services.env) as other:
                    again = await asyncio.gather(ring(server), ring(other), ring(other))
                assert again == [(200, twiml)] * 3
                assert len(services.requests("runner", "start")) == 1
                assert len(services.requests("daily", "meeting-tokens")) == 1

                # Through a tunnel, Twilio signs the address that it knows.
                through = {"Host": "tunnel.example", "X-Forwarded-Proto": "https"}
                tunneled = CALL | {"CallSid": "CA" + "5" * 32}
                signed = signature(TOKEN, "https://tunnel.example/call", tunneled)
                headers = through | {"X-Twilio-Signature": signed}
                assert (await post(f"{server.url}/call", headers, data=tunneled))[0] == 200
                assert len(services.requests("runner", "start")) == 2

                before = asked(services)
                assert (await ring(server, token="another-token"))[0] == 403
                assert (await post(f"{server.url}/call", data=CALL))[0] == 403
                assert (await post(f"{server.url}/call", data=b"\xff\xfe"))[0] == 403
                # A signature is good for one address and one form.
                headers = {"X-Twilio-Signature": signed}
                assert (await post(f"{server.url}/call", headers, data=tunneled))[0] == 403
                other = tunneled | {"From": "+15550000000"}
                headers |= through
                assert (await post(f"{server.url}/call", headers, data=other))[0] == 403
                status, answer = await ring(server, {"From": NUMBER})
                assert (status, answer) == (400, {"detail": "CallSid is missing"})
                assert asked(services) == before
                assert server.errors() == []
                secrets_stay(server)
            assert services.names_asked() == services.hosts
        is_a_call(sip_in, call)

    network.run(calls)


async def unfinished(url: str, size: int, *head: str) -> int:
    """The status of the response to a request whose body ends after `size` bytes, unfinished."""
    to = urlsplit(url)
    reader, writer = await asyncio.open_connection(to.hostname, to.port)
    lines = [f"POST {to.path} HTTP/1.1", "Host: localhost", *head, "", ""]
    body = b"%x\r\n%b\r\n" % (size, b"a" * size) if size else b""
    writer.write("\r\n".join(lines).encode() + body)
    try:
        async with asyncio.timeout(3):
            return int((await reader.readline()).split()[1])
    finally:
        writer.close()


MAX_BODY = 64 * 1024


@pytest.mark.parametrize("kind", ["pstn_out", "sip_out", "sip_in"])
def test_a_large_body_is_refused_before_it_is_read(
    kind: str, request: pytest.FixtureRequest
) -> None:
    project: bots.Project = request.getfixturevalue(kind)
    project.write_env(**(IN if kind == "sip_in" else OUT), BOT_URL=Runner.url)
    chunked, key = "Transfer-Encoding: chunked", f"Authorization: Bearer {PASSWORD}"

    async def calls() -> None:
        async with StandIns(Daily(DAILY_KEY), Runner()) as services:
            async with project.webhook(services.env) as server:
                url = f"{server.url}/{'call' if kind == 'sip_in' else 'dialout'}"
                with pytest.raises(TimeoutError):  # and then hangs up: no fault of the server
                    await unfinished(url, 1, chunked, key)
                assert await unfinished(url, MAX_BODY + 1, chunked, key) == 413
                large = f"Content-Length: {300 << 20}"
                assert await unfinished(url, MAX_BODY + 1, large, key) == 413
                if kind != "sip_in":  # whose signature is of the body
                    assert await unfinished(url, 0, chunked) == 401
                    assert await unfinished(url, 0, large) == 401
                # This much is read.
                headers = {"Authorization": f"Bearer {PASSWORD}"}
                refused = 403 if kind == "sip_in" else 422
                assert (await post(url, headers, data=b"a" * MAX_BODY))[0] == refused
                assert server.errors() == []
            assert asked(services) == [[], [], []]

    network.run(calls)


def test_twilio_may_know_the_server_by_a_public_url(sip_in: bots.Project) -> None:
    sip_in.write_env(**IN, BOT_URL=Runner.url, PUBLIC_URL="https://calls.example/")

    async def calls() -> None:
        async with StandIns(Daily(DAILY_KEY), Runner()) as services:
            async with sip_in.webhook(services.env) as server:
                signed = signature(TOKEN, "https://calls.example/call", CALL)
                headers = {"X-Twilio-Signature": signed}
                assert (await post(f"{server.url}/call", headers, data=CALL))[0] == 200
                assert (await ring(server))[0] == 403
                assert server.errors() == []

    network.run(calls)


def test_the_server_is_open_to_others_when_told(pstn_out: bots.Project) -> None:
    async def calls() -> None:
        async def answers() -> bool:
            async with pstn_out.webhook({}) as server, aiohttp.ClientSession() as http:
                port = server.url.rpartition(":")[2]
                try:
                    async with http.get(f"http://{network.PEER_ADDRESS}:{port}/health") as health:
                        return health.ok
                except aiohttp.ClientConnectorError:
                    return False

        pstn_out.write_env(**OUT)
        assert not await answers()
        pstn_out.write_env(**OUT, HOST="0.0.0.0")
        # Without a network namespace, this machine need not have the address.
        assert await answers() or not network.fenced()

    network.run(calls)


@pytest.mark.parametrize("kind", ["pstn_out", "sip_in"])
def test_failures_are_explained_in_words(kind: str, request: pytest.FixtureRequest) -> None:
    project: bots.Project = request.getfixturevalue(kind)
    project.write_env(**(IN if kind == "sip_in" else OUT), BOT_URL=Runner.url)

    async def calls() -> None:
        daily, runner = Daily(DAILY_KEY), Runner()

        async def call() -> Answer:
            if kind == "sip_in":
                return await ring(server)
            return await ask(server, outgoing(project))

        def failure(detail: str) -> tuple[int, Any]:
            if kind == "sip_in":  # the caller hears it
                busy = "All lines are busy right now. Please call again later."
                return 200, f'<Response><Say language="en-US">{busy}</Say></Response>'
            return 502, {"detail": detail}

        async with StandIns(daily, runner) as services:
            async with project.webhook(services.env) as server:
                daily.in_order = False
                detail = "Daily made no room for the call; see the server's log"
                assert await call() == failure(detail)
                assert services.requests("runner") == []
                assert any("server-error" in line for line in server.errors())

                daily.in_order, runner.in_order = True, False
                seen = len(server.errors())
                detail = "the bot did not start; see the server's log"
                assert await call() == failure(detail)
                [error] = server.errors()[seen:]
                assert "503" in error and "no capacity" in error
                assert daily.rooms == set()  # so that the call can be tried again
                assert "Traceback" not in server.log

                runner.in_order = True
                assert (await call())[0] == 200
                secrets_stay(server)

    network.run(calls)


def test_a_bot_or_a_daily_that_is_not_there_is_said_in_words(pstn_out: bots.Project) -> None:
    nobody = "http://127.0.0.1:9"

    async def call(services: StandIns, what: str, **env: str) -> None:
        async with pstn_out.webhook(services.env | env) as server:
            status, answer = await ask(server, {"phone_number": NUMBER})
            assert status == 502 and what in answer["detail"]
            assert any("127.0.0.1" in line for line in server.errors())
            assert "Traceback" not in server.log

    async def calls() -> None:
        async with StandIns(Daily(DAILY_KEY), Runner()) as services:
            pstn_out.write_env(**OUT, BOT_URL=nobody)
            await call(services, "the bot did not start")
            pstn_out.write_env(**OUT, BOT_URL=Runner.url)
            await call(services, "Daily made no room", DAILY_API_URL=f"{nobody}/v1")
            assert services.requests("runner") == []

    network.run(calls)


@pytest.mark.parametrize("kind", ["pstn_out", "sip_in"])
def test_a_deployed_bot_is_started_on_pipecat_cloud(
    kind: str, request: pytest.FixtureRequest
) -> None:
    project: bots.Project = request.getfixturevalue(kind)
    project.write_env(**(IN if kind == "sip_in" else OUT), **DEPLOYED)

    async def calls() -> None:
        cloud = Cloud(DEPLOYED["PIPECAT_AGENT_NAME"], DEPLOYED["PIPECAT_API_KEY"])
        async with StandIns(Daily(DAILY_KEY), cloud) as services:
            async with project.webhook(services.env) as server:
                wanted = ring(server) if kind == "sip_in" else ask(server, outgoing(project))
                assert (await wanted)[0] == 200
                assert server.errors() == []
                secrets_stay(server)
            [call] = services.requests("cloud", "start")
        is_a_call(project, call)

    network.run(calls)


@pytest.mark.parametrize(
    ("kind", "script", "given", "missing"),
    [
        ("pstn_out", "webhooks.py", {}, set(OUT)),
        ("sip_out", "webhooks.py", OURS, {"SERVER_API_KEY"}),
        ("sip_in", "webhooks.py", {}, set(IN)),
        ("sip_in", "webhooks.py", IN | {"PIPECAT_AGENT_NAME": "an-agent"}, {"PIPECAT_API_KEY"}),
        ("pstn_in", "bot.py", KEYS, set(OURS)),
        ("pstn_out", "bot.py", KEYS, set(OURS)),
        ("sip_in", "bot.py", KEYS, set(IN)),
        # bot.py takes an API key in place of the token; Twilio signs with nothing but the token.
        ("sip_in", "bot.py", KEYS | OURS | BY_KEY, {"TWILIO_API_SECRET"}),
        ("sip_in", "webhooks.py", OURS | BY_KEY | SECRET, {"TWILIO_AUTH_TOKEN"}),
    ],
)
def test_missing_settings_are_named_at_the_start(
    kind: str, script: str, given: dict[str, str], missing: set[str], request: pytest.FixtureRequest
) -> None:
    project: bots.Project = request.getfixturevalue(kind)
    project.write_env(**given)
    done = bots.run("uv", "run", script, cwd=project.server, env=bots.plain_env(), timeout=60)
    assert done.returncode == 1
    [line] = [line for line in done.stderr.splitlines() if line.startswith("Set ")]
    assert set(line.removeprefix("Set ").partition(" in .env")[0].split(", ")) == missing
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("env", "user", "password"),
    [
        (IN, IN["TWILIO_ACCOUNT_SID"], TOKEN),
        (IN | BY_KEY | SECRET, BY_KEY["TWILIO_API_KEY"], SECRET["TWILIO_API_SECRET"]),
    ],
    ids=["token", "key"],
)
def test_the_bot_fetches_the_waiting_call(
    sip_in: bots.Project, env: dict[str, str], user: str, password: str
) -> None:
    sip_in.write_env(**KEYS, **env)
    code = """
import asyncio, sys
from sentences import SENTENCES
from vbot.daily import TwilioSipDialin

class Transport:
    def event_handler(self, name):
        return lambda handler: setattr(self, name, handler)

transport = Transport()
TwilioSipDialin.model_validate_json(sys.argv[1]).attach(transport, None, SENTENCES)
asyncio.run(transport.on_dialin_ready(transport, ""))
"""
    call = {"room_url": "https://company.daily.co/a", "token": ""}
    call |= {"sip_uri": "sip:a&b@sip.daily.example"}
    call |= {"call_sid": CALL["CallSid"], "caller": NUMBER}
    wanted = "<Response><Dial><Sip>sip:a&amp;b@sip.daily.example</Sip></Dial></Response>"

    async def fetch() -> None:
        api = TwilioAPI(user, password, {"Twiml": wanted})
        async with StandIns(api) as services:
            ours = bots.plain_env() | services.env | {"UV_OFFLINE": "1"}
            ours["REQUESTS_CA_BUNDLE"] = services.env["SSL_CERT_FILE"]
            command = ("uv", "run", "python", "-c", code, json.dumps(call))
            await asyncio.to_thread(bots.must, *command, cwd=sip_in.server, env=ours, timeout=60)
        assert len(api.notes) == 1

    network.run(fetch)


async def goes_to(bot: bots.Bot, url: str) -> None:
    """The bot looks up that room, does not find it, and ends."""
    await until(lambda: f"Error joining {url}" in bot.log, 20)
    assert f"Joining {url}" in bot.log
    await until(lambda: "finished running" in bot.log, 10)
    assert "finished running" in bot.log


@pytest.mark.parametrize(
    ("kind", "script"), [("pstn_out", "bot.py"), ("own_out", "self_host.py"), ("sip_in", "bot.py")]
)
def test_the_server_and_the_bot_work_together(
    kind: str, script: str, request: pytest.FixtureRequest
) -> None:
    """Both run, as the README says, and the bot goes to the room of the call."""
    project: bots.Project = request.getfixturevalue(kind)
    values = KEYS | (IN if kind == "sip_in" else OUT)
    listening, speaking = Deepgram(KEYS["DEEPGRAM_API_KEY"], []), Cartesia(KEYS["CARTESIA_API_KEY"])

    async def calls() -> None:
        async with StandIns(Daily(DAILY_KEY), Rooms(), listening, speaking) as services:
            # Unseen, native code would go to the real Daily.
            nowhere = {} if network.fenced() else {"HTTPS_PROXY": "http://127.0.0.1:9"}
            project.write_env(**values)
            env = services.env | nowhere
            async with project.bot(env, script=script) as bot:
                project.write_env(**values, BOT_URL=bot.url)
                async with project.webhook(services.env) as server:
                    wanted = ring(server) if kind == "sip_in" else ask(server, outgoing(project))
                    assert (await wanted)[0] == 200
                    [room] = services.requests("daily", "rooms")
                    url = f"https://company.daily.co/{room['name']}"
                    await goes_to(bot, url)
                    await services.wait_for(
                        "daily", "delete", lambda it: it["room"] == room["name"]
                    )
                    assert server.errors() == []
                if network.fenced():
                    looked_up = {found["room"] for found in services.requests("rooms")}
                    assert looked_up == {room["name"]}
                    assert [line for line in bot.errors() if "Error joining" not in line] == []

    network.run(calls)


ELSEWHERE = "https://attacker.example/../release-phone-number/ID"


@pytest.mark.parametrize(
    ("kind", "script"),
    [
        ("pstn_out", "bot.py"),
        ("sip_in", "bot.py"),
        ("own_out", "self_host.py"),
        ("own_in", "bot.py"),
        ("page_out", "bot.py"),
        ("page_in", "bot.py"),
    ],
)
def test_a_call_that_nobody_signed_starts_nothing_and_costs_nothing(
    kind: str, script: str, request: pytest.FixtureRequest
) -> None:
    """Whatever a stranger sends, it leads to no request with the operator's key."""
    project: bots.Project = request.getfixturevalue(kind)
    listening, speaking = Deepgram(KEYS["DEEPGRAM_API_KEY"], []), Cartesia(KEYS["CARTESIA_API_KEY"])
    own = {"DAILY_HMAC_SECRET": base64.b64encode(b"a-secret").decode()}
    ours = {"sip_in": IN, "own_in": OURS | own, "page_in": OURS}
    project.write_env(**KEYS, **ours.get(kind, OUT))
    room = "https://company.daily.co/somebodys-room"
    genuine = {"room_url": room, "token": "a-token"}
    genuine |= {"phone_number": NUMBER} if kind in ("pstn_out", "page_out") else {"sip_uri": SIP}
    genuine |= {"data": {}} if kind.endswith("out") else {}
    genuine |= {"call_sid": CALL["CallSid"], "caller": NUMBER} if kind == "sip_in" else {}
    forged = [
        genuine,
        signed(genuine | {"room_url": ELSEWHERE}, DAILY_KEY) | {"signature": "0" * 64},
        signed(genuine, "another key"),
        signed(genuine, DAILY_KEY, -1),
        signed(genuine | {"room_url": ELSEWHERE}, DAILY_KEY),
        signed(genuine | {"room_url": f"{room}\n"}, DAILY_KEY),
        signed(genuine, DAILY_KEY) | {"token": "another-token"},
        signed(genuine, DAILY_KEY) | {"signature": "é"},
        {"signature": None},
        {
            "dialin_settings": {"call_id": "a", "call_domain": "b"},
            "daily_api_url": "http://127.0.0.1:9",
        },
    ]

    async def knock() -> None:
        async with StandIns(Daily(DAILY_KEY), Rooms(), listening, speaking) as services:
            nowhere = {} if network.fenced() else {"HTTPS_PROXY": "http://127.0.0.1:9"}
            async with project.bot(services.env | nowhere, script=script) as bot:
                for body in forged:
                    assert (await post(f"{bot.url}/call", json=body))[0] in (401, 404, 422), body
                    if kind == "own_out" and "signature" not in body:
                        continue  # a page may say what it likes
                    started = {"createDailyRoom": False, "transport": "daily", "body": body}
                    status, _ = await post(f"{bot.url}/start", json=started)
                    if kind != "own_in":  # which logs that it cannot take it
                        assert status in (401, 404, 422), body
                rooms: list[Any] = [{"createDailyRoom": True}, ["createDailyRoom"]]
                rooms += [{"createDailyRoom": True, "transport": None}, {"transport": "daily"}]
                for body in rooms if kind in ("pstn_out", "sip_in", "page_out", "page_in") else []:
                    assert (await post(f"{bot.url}/start", json=body))[0] in (401, 404), body
                announced = {"From": "1", "To": "2", "callId": "a", "callDomain": "b"}
                if kind not in ("own_in", "page_in"):  # which Daily's webhook starts
                    hook = f"{bot.url}/daily-dialin-webhook"
                    assert (await post(hook, json=announced))[0] == 404
                if not kind.startswith("own"):
                    async with aiohttp.ClientSession() as http:
                        async with http.get(f"{bot.url}/daily", allow_redirects=False) as answer:
                            assert answer.status in (401, 404)
                if kind.startswith("page"):
                    assert (await post(f"{bot.url}/start", json={}))[0] == 200
                await asyncio.sleep(1)
                assert services.requests("daily") == [] == services.requests("rooms")
                assert bot.sessions() == {}
                if not kind.endswith("_in") or kind == "sip_in":
                    status, _ = await post(f"{bot.url}/call", json=signed(genuine, DAILY_KEY))
                    assert status == 200
                    await goes_to(bot, room)

    network.run(knock)


def test_a_call_in_over_daily_reaches_the_bot(pstn_in: bots.Project) -> None:
    """The bot is started with the README's command, and gets the body of Daily's webhook."""
    pstn_in.write_env(**KEYS, **OURS)
    readme = (pstn_in.folder / "README.md").read_text()
    [command] = re.findall(r"`uv run bot\.py (-t daily[^`]*)`", readme)
    listening, speaking = Deepgram(KEYS["DEEPGRAM_API_KEY"], []), Cartesia(KEYS["CARTESIA_API_KEY"])
    ringing = {"From": NUMBER, "To": "+15557654321", "callId": "a-call", "callDomain": "a-domain"}

    async def calls() -> None:
        async with StandIns(Daily(DAILY_KEY), Rooms(), listening, speaking) as services:
            # Unseen, native code would go to the real Daily.
            nowhere = {} if network.fenced() else {"HTTPS_PROXY": "http://127.0.0.1:9"}
            async with pstn_in.bot(services.env | nowhere, *command.split()) as bot:
                hook = f"{bot.url}/daily-dialin-webhook"
                assert await post(hook, json={"test": True}) == (200, {"status": "OK"})
                status, answer = await post(hook, json=ringing)
                [room] = services.requests("daily", "rooms")
                assert room["properties"]["sip"]["display_name"] == NUMBER
                url = f"https://company.daily.co/{room['name']}"
                assert (status, answer["dailyRoom"]) == (200, url)
                await goes_to(bot, url)
                gone = await services.wait_for("daily", "delete", lambda _: True)
                assert gone["room"] == room["name"]
                if network.fenced():
                    looked_up = {found["room"] for found in services.requests("rooms")}
                    assert looked_up == {room["name"]}
                    assert [line for line in bot.errors() if "Error joining" not in line] == []

    network.run(calls)


async def start(bot: bots.Bot, wanted: Any) -> Answer:
    """Ask a bot for a session, as soon as the previous one has ended."""
    async with asyncio.timeout(20):
        while (answer := await post(f"{bot.url}/start", json=wanted))[0] == 503:
            await asyncio.sleep(0.2)
    return answer


def test_daily_signs_the_calls_that_a_bot_of_ones_own_takes(own_in: bots.Project) -> None:
    """As do pages, over Daily and over a WebSocket, with what POST /start gives them."""
    secret = base64.b64encode(b"a-secret")
    own_in.write_env(**KEYS, **OURS, DAILY_HMAC_SECRET=secret.decode())
    listening, speaking = Deepgram(KEYS["DEEPGRAM_API_KEY"], []), Cartesia(KEYS["CARTESIA_API_KEY"])
    thinking = OpenAI(KEYS["OPENAI_API_KEY"], GREETING, {})
    ringing = {"From": NUMBER, "To": "+15557654321", "callId": "a-call", "callDomain": "a-domain"}

    def signed(body: bytes, key: bytes = b"a-secret", ago: int = 0) -> dict[str, str]:
        at = str(int(time.time()) - ago)
        mark = hmac.digest(key, at.encode() + b"." + body, "sha256")
        head = {"Content-Type": "application/json", "X-Pinless-Timestamp": at}
        return head | {"X-Pinless-Signature": base64.b64encode(mark).decode()}

    async def calls() -> None:
        stand_ins = (Daily(DAILY_KEY), Rooms(), listening, speaking, thinking)
        async with StandIns(*stand_ins) as services:
            env = services.env | {"MAX_SESSIONS": "1"}
            # Unseen, native code would go to the real Daily.
            env |= {} if network.fenced() else {"HTTPS_PROXY": "http://127.0.0.1:9"}
            async with own_in.bot(env, script="self_host.py") as bot:
                hook, body = f"{bot.url}/daily-dialin-webhook", json.dumps(ringing).encode()
                assert await post(hook, json={"test": True}) == (200, {"status": "OK"})
                wrong = [signed(body, b"another"), signed(body + b" "), signed(body, ago=900)]
                for headers in ({}, *wrong):
                    assert (await post(hook, headers, data=body))[0] == 403
                assert services.requests("daily") == []
                assert (await post(hook, signed(body), data=body))[0] == 200
                [room] = services.requests("daily", "rooms")
                assert room["properties"]["sip"]["display_name"] == NUMBER
                assert (await post(hook, signed(body), data=body))[0] == 503  # it is full
                await goes_to(bot, f"https://company.daily.co/{room['name']}")

                wanted = {"transport": "daily", "createDailyRoom": True}
                status, answer = await start(bot, wanted)
                room = services.requests("daily", "rooms")[-1]["name"]
                assert status == 200
                assert answer["dailyRoom"] == f"https://company.daily.co/{room}"
                assert answer["dailyToken"] == f"token-for-{room}"
                await until(lambda: f"Joining {answer['dailyRoom']}" in bot.log, 20)
                await until(lambda: not any(bot.sessions().values()), 20)

                status, answer = await start(bot, {"transport": "websocket"})
                url, path = urlsplit(answer["wsUrl"]), f"/ws-client/{answer['sessionId']}"
                assert (status, url.path) == (200, path)
                line = socket_clients.call(WebSocketCaller, bot.url, f"/{answer['sessionId']}")
                async with line as page:
                    await page.ready()
                    await page.hear(GREETING)
                    for end in (path, "/ws-client/made-up", "/ws-client"):
                        async with aiohttp.ClientSession() as http:
                            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                                await http.ws_connect(bot.url + end)
                        assert refused.value.status in (403, 404, 409), end
                    for _ in range(5):  # more than sound does
                        await page.ws.send_bytes(bytes(900_000))
                    await page.left_alone()
                await until(lambda: not any(bot.sessions().values()), 20)
                assert (await post(f"{bot.url}/start", json={"transport": "webrtc"}))[0] == 400

    network.run(calls)


def test_the_bot_of_a_call_out_over_sip_starts(sip_out: bots.Project) -> None:
    """Other tests start bots for the other kinds of calls."""
    sip_out.write_env(**KEYS, **OUT)

    async def start() -> None:
        async with StandIns(Daily(DAILY_KEY)) as services, sip_out.bot(services.env) as bot:
            async with aiohttp.ClientSession() as http, http.get(f"{bot.url}/status") as response:
                assert "daily" in (await response.json())["transports"]
            assert bot.errors() == []
            assert services.names_asked() == set()

    network.run(start)
