"""Conversations with the bot as it runs on your own machines, by the protocol of each transport."""

import base64
from collections.abc import AsyncIterator
from typing import Any

import pytest

import cast
from vbot.testing import Bot, Person, Script, Services, values
from vbot.testing.fixtures import program

PHONE_TOKEN = "test-token-of-calls"  # of the bot's address for calls
PUBLIC_URL = "https://test.example"  # as carriers and pages know it
OWN = {  # what only self_host.py needs
    "ASTERISK_PASSWORD": "test-asterisk-password",
    "BOT_PUBLIC_URL": PUBLIC_URL,
    "DAILY_HMAC_SECRET": base64.b64encode(b"test-daily-hmac-secret").decode(),
    "PHONE_TOKEN": PHONE_TOKEN,
}
CALLERS = [pytest.param(caller, id=name) for name, caller in cast.CALLERS.items()]
VISITORS = [pytest.param(visitor, id=name) for name, visitor in cast.VISITORS.items()]
HAS_VOICE = "tts" in cast.SERVICES  # of its own; otherwise the model speaks


@pytest.fixture(scope="session")
async def hosted_bot(
    running_services: Services, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Bot]:
    """self_host.py, as deploy/ starts it, once for all tests."""
    folder = tmp_path_factory.mktemp("hosting")
    async with program("self_host.py", "NEXT_PORT/ready", running_services, folder, **OWN) as bot:
        yield bot


async def test_it_starts(hosted_bot: Bot) -> None:
    assert not hosted_bot.errors()


@pytest.mark.parametrize("person", CALLERS)
async def test_a_call_that_the_model_ends(
    person: type[Person], hosted_bot: Bot, script: Script
) -> None:
    goodbye = {"goodbye": "Talk to you soon."} if HAS_VOICE else {}
    script.when("That is all.", "Talk to you soon.", call="hang_up", arguments=goodbye)
    path = person.hosted_path(PHONE_TOKEN)
    signed = person.signature(values.AnyValue(), PUBLIC_URL.replace("http", "ws", 1) + path)
    options: dict[str, Any] = {"path": path, "headers": signed}
    hosted_bot.begin_test()
    async with person.connected(hosted_bot, script, **options) as caller:
        await caller.hears(script.greeting)
        await caller.speaks("Do you have a table for two?")
        await caller.hears("You said: Do you have a table for two?")
        await caller.speaks("That is all.")
        if HAS_VOICE:
            await caller.hears("Talk to you soon.")
        await caller.until(caller.gone.is_set, "hang up")


@pytest.mark.parametrize("person", VISITORS)
async def test_a_visit(person: type[Person], hosted_bot: Bot, script: Script) -> None:
    hosted_bot.begin_test()
    async with person.connected(hosted_bot, script) as visitor:
        await visitor.hears(script.greeting)
        await visitor.speaks("Can you hear me?")
        await visitor.hears("You said: Can you hear me?")
    await hosted_bot.ends_session()
