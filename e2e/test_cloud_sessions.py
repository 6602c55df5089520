"""Generated bots serve the sessions that Pipecat Cloud gives them, over each transport.

cloud_sessions.py has the stand-in for its server.
"""

from pathlib import Path
from typing import Any

import pytest

import bots
import network
import socket_clients
import webrtc_client
from caller import Caller
from conversation import ANSWER, GREETING, KEYS, QUESTION, stand_ins
from phones import ExotelCaller, PlivoCaller, TelnyxCaller, TwilioCaller
from services import Cartesia, Deepgram
from socket_clients import WebSocketCaller
from standins import StandIns
from telephony import Daily, Rooms, signed
from test_calls import NUMBER, goes_to, post

CASCADE = ["-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia"]
TWILIO = {"TWILIO_ACCOUNT_SID": TwilioCaller.account, "TWILIO_AUTH_TOKEN": "a-twilio-token"}
PHONES = TWILIO | {
    "TELNYX_API_KEY": "a-telnyx-key",
    "PLIVO_AUTH_ID": "a-plivo-id",
    "PLIVO_AUTH_TOKEN": "a-plivo-token",
}
DAILY = {"DAILY_API_KEY": "a-daily-key"}
ROOM = "https://company.daily.co/a-room"


def deployed(vbot: Path, name: str, *transports: str) -> bots.Project:
    """A project with the other files of its image. Its keys are only in the environment."""
    options = [word for transport in transports for word in ("-t", transport)]
    project = bots.installed(vbot, name, *options, *CASCADE)
    bots.must("uv", "pip", "install", "--quiet", "pipecatcloud>=1.4,<2", cwd=project.server)
    return project


@pytest.fixture(scope="module")
def web(vbot: Path) -> bots.Project:
    return deployed(vbot, "cloud-web", "smallwebrtc", "daily", "websocket")


@pytest.fixture(scope="module")
def phones(vbot: Path) -> bots.Project:
    carriers = ("twilio", "telnyx", "plivo", "exotel")
    return deployed(vbot, "cloud-phones", *carriers, "daily_pstn_dialin")


@pytest.fixture(scope="module")
def pstn_out(vbot: Path) -> bots.Project:
    return deployed(vbot, "cloud-pstn-out", "daily_pstn_dialout")


@pytest.fixture(scope="module")
def sip_in(vbot: Path) -> bots.Project:
    return deployed(vbot, "cloud-sip-in", "twilio_daily_sip_dialin", "daily")


class CloudWebSocketCaller(WebSocketCaller):
    """With a web client, which Pipecat Cloud sends where it sends telephones."""

    path = "/ws"


async def converses(caller: Caller) -> None:
    await caller.hear(GREETING)
    await caller.say(QUESTION)
    await caller.hear(ANSWER)


def test_people_come_over_webrtc(web: bots.Project) -> None:
    async def session() -> None:
        async with stand_ins() as services, web.cloud(services.env | KEYS | DAILY) as bot:
            async with webrtc_client.call(bot.url) as caller:
                await caller.ready()
                await converses(caller)
            await bot.sessions_end()
            assert len(bot.sessions()) == 1
            assert bot.errors() == []

    network.run(session)


def test_people_come_over_a_websocket(web: bots.Project) -> None:
    async def session() -> None:
        async with stand_ins() as services, web.cloud(services.env | KEYS | DAILY) as bot:
            async with socket_clients.call(CloudWebSocketCaller, bot.url) as caller:
                await caller.ready()
                await converses(caller)
            await bot.sessions_end()
            assert len(bot.sessions()) == 1
            assert bot.errors() == []

    network.run(session)


def test_people_call(phones: bots.Project) -> None:
    async def sessions() -> None:
        async with stand_ins() as services, phones.cloud(services.env | KEYS | PHONES) as bot:
            callers = (TwilioCaller, TelnyxCaller, PlivoCaller, ExotelCaller)
            for kind in callers:
                async with socket_clients.call(kind, bot.url) as caller:
                    await converses(caller)
                await bot.sessions_end()
            assert len(bot.sessions()) == len(callers)
            assert bot.errors() == []

    network.run(sessions)


TOKEN = {"room_url": ROOM, "token": "a-token"}
IN_ROOM = {"X-Daily-Room-Url": ROOM, "X-Daily-Room-Token": "a-token"}
DIAL_IN = {
    "dialin_settings": {"call_id": "a", "call_domain": "b", "To": "+15557654321", "From": NUMBER},
    "daily_api_key": "a-daily-key",
    "daily_api_url": "https://api.daily.co/v1",
}


@pytest.mark.parametrize(
    ("name", "headers", "body"),
    [
        pytest.param("web", IN_ROOM, {}, id="a room"),
        pytest.param("phones", IN_ROOM, DIAL_IN, id="a call in"),
        pytest.param("pstn_out", {}, TOKEN | {"phone_number": NUMBER, "data": {}}, id="a call out"),
        pytest.param(
            "sip_in",
            {},
            TOKEN | {"sip_uri": "sip:a@sip.daily.example", "call_sid": "CA2", "caller": NUMBER},
            id="a call over SIP",
        ),
    ],
)
def test_the_bot_goes_to_the_room(
    name: str, headers: dict[str, str], body: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    project: bots.Project = request.getfixturevalue(name)
    listening, speaking = Deepgram(KEYS["DEEPGRAM_API_KEY"], []), Cartesia(KEYS["CARTESIA_API_KEY"])

    async def session() -> None:
        rooms = [Daily(DAILY["DAILY_API_KEY"]), Rooms()]
        async with StandIns(*rooms, listening, speaking) as services:
            # Unseen, native code would go to the real Daily.
            nowhere = {} if network.fenced() else {"HTTPS_PROXY": "http://127.0.0.1:9"}
            env = services.env | nowhere | KEYS | DAILY | TWILIO
            async with project.cloud(env) as bot:
                call = signed(body, DAILY["DAILY_API_KEY"]) if body.keys() >= TOKEN.keys() else body
                assert await post(f"{bot.url}/bot", headers, json=call) == (200, {})
                await goes_to(bot, ROOM)
                assert [line for line in bot.errors() if "Error joining" not in line] == []
            gone = [{"room": "a-room"}] if name != "web" else []  # nobody stays alone in a call's
            assert services.requests("daily", "delete") == gone

    network.run(session)
