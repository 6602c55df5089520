"""Calls over Twilio, Telnyx, Plivo and Exotel: a person talks, interrupts and hangs up.

The carriers' side is in phones.py.
"""

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree
from zoneinfo import ZoneInfo

import aiohttp
import pytest

import bots
import network
import recipes
import socket_clients
import speech
from caller import EAR
from conversation import ANSWER, GREETING, KEYS, QUESTION, stand_ins
from phones import (
    CarrierAPI,
    ExotelCaller,
    PhoneCaller,
    PlivoAPI,
    PlivoCaller,
    TelnyxAPI,
    TelnyxCaller,
    TwilioAPI,
    TwilioCaller,
    TwilioLine,
)
from services import Call, Cartesia, Deepgram, OpenAI
from standins import StandIns

CASCADE = ["-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia"]
TUNNEL = "tunnel.example"
REQUEST = "Please tell me a story."
STORY = (
    "Once upon a time there was a small bot that lived in a loop and counted all the calls that "
    "came to it from near and far until one day nobody called any more"
)


@dataclass
class Carrier:
    """Its end of a call, what goes into .env, and its API (of which Exotel needs none)."""

    caller: type[PhoneCaller]
    env: dict[str, str]
    api: Callable[[], CarrierAPI] | None = None


ACCOUNT = {"TWILIO_ACCOUNT_SID": TwilioCaller.account}
CARRIERS = {
    "twilio": Carrier(
        TwilioCaller,
        ACCOUNT | {"TWILIO_AUTH_TOKEN": "a-twilio-token"},
        lambda: TwilioAPI(TwilioCaller.account, "a-twilio-token"),
    ),
    "telnyx": Carrier(
        TelnyxCaller, {"TELNYX_API_KEY": "a-telnyx-key"}, lambda: TelnyxAPI("a-telnyx-key")
    ),
    "plivo": Carrier(
        PlivoCaller,
        {"PLIVO_AUTH_ID": "a-plivo-id", "PLIVO_AUTH_TOKEN": "a-plivo-token"},
        lambda: PlivoAPI("a-plivo-id", "a-plivo-token"),
    ),
    "exotel": Carrier(ExotelCaller, {}),
}


@pytest.fixture(scope="module")
def phoned(vbot: Path) -> bots.Project:
    transports = [word for name in CARRIERS for word in ("-t", name)]
    return bots.installed(vbot, "phones", *transports, *CASCADE)


def stream(name: str, xml: str) -> tuple[str, dict[str, str], dict[str, str]]:
    """The address of a <Stream>, its other attributes, and its parameters."""
    answer = ElementTree.fromstring(xml)
    assert answer.tag == "Response"
    [found] = answer.iter("Stream")
    rest = dict(found.attrib)
    url = (found.text or "").strip() if name == "plivo" else rest.pop("url")
    return url, rest, {p.attrib["name"]: p.attrib["value"] for p in found.iter("Parameter")}


# What the carriers' documentation has beside the address, for sound in both directions.
BOTH_WAYS = {
    "twilio": {},
    "telnyx": {"bidirectionalMode": "rtp"},
    "plivo": {
        "bidirectional": "true",
        "keepCallAlive": "true",
        "contentType": "audio/x-mulaw;rate=8000",
    },
}


async def address(bot: bots.Bot, name: str) -> str:
    """The address for the sound of the call, from the webhook's response."""
    async with aiohttp.ClientSession() as http:
        async with http.post(f"{bot.url}/", data={"From": "+15551234567"}) as response:
            assert response.status == 200
            if name == "exotel":  # has the address in its applet, and no webhook
                return (await response.json())["websocket_url"]
            assert response.content_type == "application/xml"
            url, rest, parameters = stream(name, await response.text())
    assert (rest, parameters) == (BOTH_WAYS[name], {})
    return url


def test_deploy_md_has_the_addresses_of_the_deployed_bot(phoned: bots.Project) -> None:
    """https://docs.pipecat.ai/pipecat-cloud/guides/telephony/overview"""
    deploy = (phoned.folder / "DEPLOY.md").read_text().partition("## Pipecat Cloud")[2]
    found = re.findall(r"(?s)\n\*(\w+)\.\* .*?```\w+\n(.*?)\n```", deploy)
    assert [name.lower() for name, _ in found] == list(CARRIERS)
    agent = "phones.ORGANIZATION"
    toml = tomllib.loads((phoned.server / "cloud-deploy.toml").read_text())
    assert toml["agent_name"] == agent.partition(".")[0]
    for name, text in ((name.lower(), text) for name, text in found):
        if name == "exotel":
            url, rest, parameters = text, None, {}
        else:
            url, rest, parameters = stream(name, text)
        assert rest == BOTH_WAYS.get(name)
        query = "" if name == "twilio" else f"?serviceHost={agent}"
        assert url == f"wss://api.pipecat.daily.co/ws/{name}{query}"
        numbers = {"from_number": "{{From}}", "to_number": "{{To}}"}  # TwiML Bins fill them in
        twilio = {"_pipecatCloudServiceHost": agent, **numbers}
        assert parameters == (twilio if name == "twilio" else {})


@pytest.mark.quick
def test_a_person_calls_and_the_model_hangs_up(vbot: Path) -> None:
    """Over Twilio: greeting, question, goodbye, and the carrier is asked to end the call."""
    caller_of = CARRIERS["twilio"]
    project = bots.installed(vbot, "hotline", "-t", "twilio", *CASCADE)
    project.write_env(**KEYS, **caller_of.env)
    assert caller_of.api
    api = caller_of.api()
    services = StandIns(
        Deepgram(KEYS["DEEPGRAM_API_KEY"], [QUESTION, GREETING, ANSWER]),
        OpenAI(KEYS["OPENAI_API_KEY"], GREETING, {QUESTION: Call("hang_up", {"goodbye": ANSWER})}),
        Cartesia(KEYS["CARTESIA_API_KEY"]),
        api,
    )

    async def calls() -> None:
        async with services, project.bot(services.env, "-t", "twilio", "-x", TUNNEL) as bot:
            async with socket_clients.call(TwilioCaller, bot.url) as caller:
                await caller.hear(GREETING)
                await caller.say(QUESTION)
                await caller.hear(ANSWER)
                await caller.left_alone(timeout=60)
            await bot.sessions_end(timeout=60)
            heard = [asked["heard"] for asked in services.requests("deepgram", "finalize")]
            assert [words for words in heard if words] == [QUESTION]
            assert len(api.notes) == 1
            assert bot.errors() == []

    network.run(calls)


async def interrupts(caller: PhoneCaller) -> None:
    """The person speaks while the bot does; it stops immediately, and then answers."""
    await caller.say(REQUEST)
    told = len(caller.cleared)
    await caller.listens()
    await caller.say(QUESTION)
    assert len(caller.cleared) == told + 1, "the carrier was not told to drop what is queued"
    cut = caller.cleared[-1]
    # Both are inside the question, which lasts longer.
    assert speech.loudness(caller.heard[cut - EAR // 2 * 2 : cut]) > 300
    assert speech.loudness(caller.heard[cut : cut + EAR // 2 * 2]) < 30
    await caller.hear(ANSWER)


@pytest.mark.parametrize("name", CARRIERS)
def test_a_person_calls_interrupts_and_hangs_up(phoned: bots.Project, name: str) -> None:
    """With the command of the README, and at the address that the webhook gives."""
    carrier = CARRIERS[name]
    phoned.write_env(**KEYS, **carrier.env)
    readme = (phoned.folder / "README.md").read_text()
    [command] = re.findall(rf"`uv run bot\.py (-t {name} -x YOUR_TUNNEL_HOST)`", readme)
    options = command.replace("YOUR_TUNNEL_HOST", TUNNEL).split()
    services = StandIns(
        Deepgram(KEYS["DEEPGRAM_API_KEY"], [REQUEST, QUESTION, GREETING, STORY, ANSWER]),
        OpenAI(KEYS["OPENAI_API_KEY"], GREETING, {REQUEST: STORY, QUESTION: ANSWER}),
        Cartesia(KEYS["CARTESIA_API_KEY"]),
    )

    async def calls() -> None:
        async with services, phoned.bot(services.env, *options) as bot:
            to = urlsplit(await address(bot, name))
            assert (to.scheme, to.netloc, to.path) == ("wss", TUNNEL, carrier.caller.path)

            async with socket_clients.call(carrier.caller, bot.url) as caller:
                await caller.hear(GREETING)
                await interrupts(caller)
            await bot.sessions_end()
            async with socket_clients.call(carrier.caller, bot.url) as caller:
                await caller.hear(GREETING)
            await bot.sessions_end()
            assert len(bot.sessions()) == 2

            heard = [asked["heard"] for asked in services.requests("deepgram", "finalize")]
            assert [words for words in heard if words] == [REQUEST, QUESTION]
            # The services keep their own rates; the transport converts to the line's.
            assert services.requests("deepgram", "listen")[0]["sample_rate"] == "16000"
            spoken = services.requests("cartesia", "speak")
            assert {said["output_format"]["sample_rate"] for said in spoken} == {24000}
            # Who hangs up needs no help from the carrier's API.
            assert services.names_asked() == services.hosts
            assert bot.errors() == []

    network.run(calls)


class KnownLine(TwilioLine):
    numbers = {"from_number": "+15551234567", "to_number": "+1555"}
    parameters = numbers | {"customer": "Ada", "status": "gold"}


class Known(TwilioCaller):
    carrier = KnownLine


@pytest.mark.parametrize("also", [(), ("-t", "smallwebrtc")], ids=["alone", "page"])
def test_the_model_knows_who_calls(vbot: Path, also: tuple[str, ...]) -> None:
    """It also knows a value from TwiML, as RECIPES.md says, but no other values."""
    known = bots.installed(vbot, f"known{len(also)}", "-t", "twilio", *also, *CASCADE)
    known.write_env(**KEYS, **CARRIERS["twilio"].env, TIME_ZONE="Asia/Tokyo")
    title = "What the model is told about a session"
    recipes.follow(known, "RECIPES.md", title, recipes.values)

    async def calls() -> None:
        async with (
            stand_ins() as services,
            known.bot(services.env, "-t", "twilio", "-x", TUNNEL) as bot,
        ):
            async with socket_clients.call(Known, bot.url) as caller:
                await caller.hear(GREETING)
            await bot.sessions_end()
            told = services.requests("openai", "chat")[0]["messages"][0]["content"]
            for number in KnownLine.numbers.values():
                assert f'"{number}"' in told
            assert f"{datetime.now(ZoneInfo('Asia/Tokyo')):%A}" in told
            assert "in the time zone Asia/Tokyo" in told
            assert 'customer: "Ada"' in told and "gold" not in told
            assert bot.errors() == []

    network.run(calls)


KEY = ACCOUNT | {"TWILIO_API_KEY": "SK" + "4" * 32, "TWILIO_API_SECRET": "a-twilio-secret"}
BY_KEY = {
    "twilio": Carrier(
        TwilioCaller, KEY, lambda: TwilioAPI(KEY["TWILIO_API_KEY"], KEY["TWILIO_API_SECRET"])
    )
}


@pytest.mark.parametrize("carriers", [CARRIERS, BY_KEY], ids=["token", "key"])
def test_the_model_ends_the_call(phoned: bots.Project, carriers: dict[str, Carrier]) -> None:
    """Its goodbye is heard in full. Each carrier is asked once to end the call, with its key."""
    keys = {name: key for carrier in carriers.values() for name, key in carrier.env.items()}
    phoned.write_env(**KEYS, **keys)
    apis = {name: carrier.api() for name, carrier in carriers.items() if carrier.api}
    services = StandIns(
        Deepgram(KEYS["DEEPGRAM_API_KEY"], [QUESTION, GREETING, ANSWER]),
        OpenAI(KEYS["OPENAI_API_KEY"], GREETING, {QUESTION: Call("hang_up", {"goodbye": ANSWER})}),
        Cartesia(KEYS["CARTESIA_API_KEY"]),
        *apis.values(),
    )

    async def calls() -> None:
        async with services, phoned.bot(services.env) as bot:
            for name, carrier in carriers.items():
                async with socket_clients.call(carrier.caller, bot.url) as caller:
                    await caller.hear(GREETING)
                    await caller.say(QUESTION)
                    await caller.left_alone()
                    await caller.hear(ANSWER)
                await bot.sessions_end()
                if name in apis:
                    assert len(apis[name].notes) == 1
            assert len(bot.sessions()) == len(carriers)
            assert services.names_asked() == services.hosts
            assert bot.errors() == []

    network.run(calls)
