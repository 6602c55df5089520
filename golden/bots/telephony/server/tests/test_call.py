"""Whole conversations as sound, by the protocol of each transport."""

from pathlib import Path
from typing import Any

import pytest

from bot import SILENT_GOODBYE, STILL_THERE
from conftest import PHONE_TOKEN, PUBLIC_URL, VARIABLES, Services, program
from people import Bot, Person, TwilioCaller, Visitor, twilio_signature
from stand_ins import Script

SOCKET: dict[str, Any] = {"path": f"/ws/{PHONE_TOKEN}"}  # where self_host.py takes calls
ADDRESS = f"{PUBLIC_URL.replace('http', 'ws', 1)}{SOCKET['path']}"
SIGNED = SOCKET | {"headers": twilio_signature(VARIABLES["TWILIO_AUTH_TOKEN"], ADDRESS)}

# Who connects, to which program, and at which address if it is not the usual one.
CALLS = [
    pytest.param(TwilioCaller, "running_bot", {}, id="twilio"),
    pytest.param(TwilioCaller, "self_hosted_bot", SIGNED, id="twilio, self_host.py"),
]
VISITS = [
    pytest.param(Visitor, "running_bot", {}, id="smallwebrtc"),
    pytest.param(Visitor, "self_hosted_bot", {}, id="smallwebrtc, self_host.py"),
]


@pytest.fixture
def bot(request: pytest.FixtureRequest, program: str) -> Bot:
    bot: Bot = request.getfixturevalue(program)
    bot.begin_test()
    return bot


@pytest.mark.parametrize(("person", "program", "options"), CALLS)
async def test_a_call_that_the_model_ends(
    person: type[Person], bot: Bot, options: dict[str, Any], script: Script
) -> None:
    script.when("That is all.", call="hang_up", arguments={"goodbye": "Talk to you soon."})
    async with person.connected(bot, script, **options) as caller:
        await caller.hears(script.greeting)
        await caller.speaks("Do you have a table for two?")
        await caller.hears("You said: Do you have a table for two?")
        await caller.speaks("That is all.")
        await caller.hears("Talk to you soon.")
        await caller.until(caller.gone.is_set, "hang up")


@pytest.mark.parametrize(("person", "program", "options"), CALLS[:1])
async def test_a_call_that_the_caller_ends(
    person: type[Person], bot: Bot, options: dict[str, Any], script: Script
) -> None:
    async with person.connected(bot, script, **options) as caller:
        await caller.hears(script.greeting)
    await bot.ends_session()


async def test_a_caller_who_says_nothing(
    services: Services, script: Script, tmp_path: Path
) -> None:
    """Is asked twice. Then the call ends."""
    second = {"SILENCE_SECONDS": "1"}
    async with (
        program("bot.py", "PORT/status", services, tmp_path, **second) as bot,
        TwilioCaller.connected(bot, script) as caller,
    ):
        await caller.hears(script.greeting)
        await caller.hears(STILL_THERE)
        await caller.hears(STILL_THERE)
        await caller.hears(SILENT_GOODBYE)
        await caller.until(caller.gone.is_set, "hang up")


@pytest.mark.parametrize(("person", "program", "options"), VISITS)
async def test_a_visit(
    person: type[Person], bot: Bot, options: dict[str, Any], script: Script
) -> None:
    async with person.connected(bot, script, **options) as visitor:
        await visitor.hears(script.greeting)
        await visitor.speaks("Can you hear me?")
        await visitor.hears("You said: Can you hear me?")
    await bot.ends_session()
