"""The instructions in DEPLOY.md for handing a call to a person work unchanged."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

import bots
import network
import recipes
import socket_clients
from caller import until
from conversation import ANSWER, GREETING, KEYS, QUESTION
from phones import TwilioAPI, TwilioCaller
from services import Call, Cartesia, Deepgram, OpenAI
from standins import Service, StandIns
from telephony import Daily, in_daily_session, signed
from test_bots import CASCADE, REALTIME, TWILIO

DEV = ("uv", "run", "--group", "dev")
COLLEAGUE = "+15557650000"
DAILY_KEY = "a-daily-key"
NOBODY = "Nobody can take your call right now. Please call again later."
DIAL = {
    "Twiml": f'<Response><Dial timeout="25"><Number>{COLLEAGUE}</Number></Dial>'
    f'<Say language="en-US">{NOBODY}</Say></Response>'
}
ROOM, TOKEN = "https://company.daily.co/a-room", "a-token"
DIALED_IN = {
    "dialin_settings": {"call_id": "1", "call_domain": "2", "To": "+1", "From": "+15551234567"},
    "daily_api_key": DAILY_KEY,
    "daily_api_url": "https://api.daily.co/v1",
}


HAND_OVER = ("DEPLOY.md", "Handing a call to a person", recipes.hand_over)
SHARE_THE_ROOM = ("RECIPES.md", "A colleague in the room", recipes.shared_room)


def edit(project: bots.Project, *what: tuple[str, str, recipes.Recipe]) -> None:
    """Do what the documents say. The linter and the type check have nothing to say."""
    for document, title, recipe in what:
        recipes.follow(project, document, title, recipe)
    server = project.server
    bots.must(*DEV, "ruff", "check", "--no-cache", ".", cwd=server)
    bots.must(*DEV, "ruff", "format", "--no-cache", "--diff", ".", cwd=server)
    said = bots.must(*DEV, "pyright", ".", cwd=server)
    assert "0 errors, 0 warnings, 0 informations" in said


DAYS = "time.weekday() > 4 or str(time.date()) in HOLIDAYS"
HOURS = "is_holiday or not 9 <= time.hour < 17"


def set_hours(project: bots.Project, closed: str) -> None:
    """Change the hours of colleagues, so that the result does not depend on the day of the test."""
    agent = project.server / "handing_over.py"
    source = agent.read_text()
    assert source.count(DAYS) == source.count(HOURS) == 1
    agent.write_text(source.replace(DAYS, closed).replace(HOURS, "is_holiday"))


def configure(project: bots.Project, **values: str) -> None:
    project.write_env(**KEYS, **values)
    with (project.server / ".env").open("a") as env:
        env.write(f"COLLEAGUE={COLLEAGUE}\nTIME_ZONE=Europe/Berlin\n")


@pytest.fixture(scope="module")
def over_twilio(vbot: Path) -> bots.Project:
    project = bots.installed(vbot, "handing_over", "-t", "twilio", *CASCADE)
    edit(project, HAND_OVER)
    set_hours(project, "time.weekday() > 6")
    configure(project, **TWILIO)
    return project


class Refusing(TwilioAPI):
    """A Twilio that does not find the call."""

    async def hang_up(self, request: web.Request) -> web.StreamResponse:
        await super().hang_up(request)
        return web.json_response({"code": 20404, "message": "not found", "status": 404}, status=404)


def phone_services(api: TwilioAPI) -> StandIns:
    answers: dict[str, str | Call] = {QUESTION: Call("hand_over", {"goodbye": ANSWER})}
    return StandIns(
        Deepgram(KEYS["DEEPGRAM_API_KEY"], [QUESTION, GREETING, ANSWER]),
        OpenAI(KEYS["OPENAI_API_KEY"], GREETING, answers),
        Cartesia(KEYS["CARTESIA_API_KEY"]),
        api,
    )


@asynccontextmanager
async def a_person_is_wanted(
    project: bots.Project, api: TwilioAPI
) -> AsyncIterator[tuple[StandIns, bots.Bot, TwilioCaller]]:
    """A caller who has asked for a person. At the end they have left, and the session is over."""
    async with phone_services(api) as services:
        env = services.env | {"REQUESTS_CA_BUNDLE": services.env["SSL_CERT_FILE"]}
        async with project.bot(env) as bot:
            async with socket_clients.call(TwilioCaller, bot.url) as caller:
                await caller.hear(GREETING)
                await caller.say(QUESTION)
                yield services, bot, caller
            await bot.sessions_end()


def test_a_call_over_twilio_outlives_the_bot(over_twilio: bots.Project) -> None:
    """Twilio is asked to dial, when the sentence has been heard, and never to hang up."""
    api = TwilioAPI(TWILIO["TWILIO_ACCOUNT_SID"], TWILIO["TWILIO_AUTH_TOKEN"], DIAL)

    async def calls() -> None:
        async with a_person_is_wanted(over_twilio, api) as (services, bot, caller):
            await until(lambda: len(api.notes) == 1, 20)
            await caller.hear(ANSWER)
            await asyncio.sleep(1)  # Twilio closes the connection, not the bot
            assert not caller.ws.closed
        assert len(api.notes) == 1  # TwilioAPI refuses any other form
        [_, asked] = services.requests("openai", "chat")
        assert {t["function"]["name"] for t in asked["tools"]} == {"hang_up", "hand_over"}
        assert bot.errors() == []

    network.run(calls)


def test_a_caller_hears_that_nobody_can_take_the_call(over_twilio: bots.Project) -> None:
    api = Refusing(TWILIO["TWILIO_ACCOUNT_SID"], TWILIO["TWILIO_AUTH_TOKEN"], DIAL)

    async def calls() -> None:
        async with a_person_is_wanted(over_twilio, api) as (services, bot, _):
            await until(lambda: len(services.requests("openai", "chat")) == 3, 20)
            told = services.requests("openai", "chat")[-1]["messages"][-1]
            assert told["content"] == "Nobody can take the call. Tell the caller."
            await until(lambda: len(services.requests("cartesia", "speak")) > 2, 10)
            assert len(services.requests("cartesia", "speak")) > 2
        [error] = bot.errors()
        assert "The call was not put through" in error

    network.run(calls)


def test_a_caller_hears_when_colleagues_are_there(vbot: Path) -> None:
    """Twilio is not asked for anything."""
    project = bots.installed(vbot, "handing_over_closed", "-t", "twilio", *CASCADE)
    edit(project, HAND_OVER)
    set_hours(project, "time.weekday() < 7")
    configure(project, **TWILIO)
    api = TwilioAPI(TWILIO["TWILIO_ACCOUNT_SID"], TWILIO["TWILIO_AUTH_TOKEN"], DIAL)

    async def calls() -> None:
        async with a_person_is_wanted(project, api) as (services, _, _caller):
            await until(lambda: len(services.requests("openai", "chat")) == 3, 20)
            told = services.requests("openai", "chat")[-1]["messages"][-1]
            assert "from Monday to Friday, 9:00 to 17:00" in told["content"]
        assert api.notes == []

    network.run(calls)


@pytest.fixture(scope="module")
def over_daily(vbot: Path) -> bots.Project:
    project = bots.installed(vbot, "handing_over_daily", "-t", "daily_pstn_dialin", *CASCADE)
    configure(project, DAILY_API_KEY=DAILY_KEY)
    return project


async def session(
    project: bots.Project, greeting: str | Call, *others: Service, **more: Any
) -> tuple[dict[str, Any], StandIns]:
    """What Daily's client was asked in a session, and the services."""
    services = StandIns(
        Deepgram(KEYS["DEEPGRAM_API_KEY"], [GREETING, ANSWER]),
        OpenAI(KEYS["OPENAI_API_KEY"], greeting, {}),
        Cartesia(KEYS["CARTESIA_API_KEY"]),
        Daily(DAILY_KEY),
        *others,
    )
    what = {"room_url": ROOM, "token": TOKEN, "body": DIALED_IN, "refusals": 0} | more
    done = await in_daily_session(project, services, 40, **what)
    return json.loads(done.stdout.splitlines()[-1]), services


@pytest.fixture
def daily_bot(over_daily: bots.Project) -> Any:
    """With its files as they were made, before and after."""
    made = recipes.read(over_daily)
    yield over_daily
    recipes.write(over_daily, made)


@pytest.mark.parametrize("refusals", [0, 1])
def test_a_call_over_daily_outlives_the_bot(daily_bot: bots.Project, refusals: int) -> None:
    """Daily is asked to transfer it when the sentence has been spoken, and its room stays."""
    edit(daily_bot, HAND_OVER)
    set_hours(daily_bot, "time.weekday() > 6")
    greeting = Call("hand_over", {"goodbye": ANSWER})

    async def calls() -> None:
        told, services = await session(daily_bot, greeting, refusals=refusals)
        transfer = ["transfer", {"sessionId": "the-sip-session", "toEndPoint": COLLEAGUE}]
        left = [["leave", None], ["release", None]]
        # The model, told that nobody can take the call, tries once more.
        assert told["asked"] == [["join", ROOM], *[transfer] * (1 + refusals), *left]
        before = told["names"][: told["names"].index("transfer")]
        assert before.count("speech") > 50  # of 40 ms or less each
        assert len(services.requests("openai", "chat")) == 1 + refusals
        assert services.requests("daily", "delete") == []

    network.run(calls)


def test_the_bot_leaves_a_room_to_others(daily_bot: bots.Project) -> None:
    """A colleague may come and go; nobody is greeted twice. When the bot leaves, the room stays."""
    edit(daily_bot, SHARE_THE_ROOM)

    async def calls() -> None:
        greeting = Call("leave", {"goodbye": f"{ANSWER} {ANSWER} {ANSWER}"})
        told, services = await session(daily_bot, greeting, colleague=True)
        assert told["asked"] == [["join", ROOM], ["leave", None], ["release", None]]
        assert len(services.requests("openai", "chat")) == 1
        assert services.requests("daily", "delete") == []

    network.run(calls)


def test_a_call_over_sip_outlives_its_room(vbot: Path) -> None:
    """Twilio, which has the call, is asked to dial. Nobody stays in the room, so it goes."""
    project = bots.installed(vbot, "handing_over_sip", "-t", "twilio_daily_sip_dialin", *CASCADE)
    configure(project, DAILY_API_KEY=DAILY_KEY, **TWILIO)
    edit(project, HAND_OVER)
    set_hours(project, "time.weekday() > 6")
    call = {"room_url": ROOM, "token": TOKEN, "sip_uri": "sip:a@sip.daily.example"}
    call |= {"call_sid": TwilioCaller.call, "caller": "+15551234567"}
    api = TwilioAPI(TWILIO["TWILIO_ACCOUNT_SID"], TWILIO["TWILIO_AUTH_TOKEN"], DIAL)
    greeting = Call("hand_over", {"goodbye": ANSWER})

    async def calls() -> None:
        body = signed(call, DAILY_KEY)
        told, services = await session(project, greeting, api, body=body, leaves=15)
        assert told["asked"] == [["join", ROOM], ["leave", None], ["release", None]]
        assert told["names"].count("speech") > 50
        assert len(api.notes) == 1  # TwilioAPI refuses any other form
        assert services.requests("daily", "delete") == [{"room": "a-room"}]

    network.run(calls)


@pytest.mark.parametrize("way", ["in", "out"])
def test_the_model_knows_the_numbers_of_a_call(
    vbot: Path, daily_bot: bots.Project, way: str
) -> None:
    told_model = ["+15551234567"]
    if way == "in":
        project, body = daily_bot, DIALED_IN
        told_model.append("+1")
    else:
        project = bots.installed(vbot, "calling_out", "-t", "daily_pstn_dialout", *CASCADE)
        configure(project, DAILY_API_KEY=DAILY_KEY, SERVER_API_KEY="a-long-random-text")
        call = {"room_url": ROOM, "token": TOKEN, "phone_number": "+15551234567"}
        body = signed(call | {"data": {}}, DAILY_KEY)

    async def calls() -> None:
        _, services = await session(project, GREETING, body=body, leaves=2)
        for asked in services.requests("openai", "chat"):
            instruction = asked["messages"][0]["content"]
            assert all(f'"{number}"' in instruction for number in told_model)

    network.run(calls)


@pytest.mark.parametrize(
    "options",
    [
        ("-t", "twilio_daily_sip_dialin", *CASCADE),
        ("-t", "twilio_daily_sip_dialout", *REALTIME),
        ("-t", "twilio", "-t", "daily_pstn_dialin", "-t", "smallwebrtc", *CASCADE),
    ],
    ids=["sip-in", "sip-out", "both"],
)
def test_both_fit_other_bots(vbot: Path, options: tuple[str, ...]) -> None:
    project = bots.installed(vbot, "handing_over_other", *options)
    edit(project, HAND_OVER, SHARE_THE_ROOM)
