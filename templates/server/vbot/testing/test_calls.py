"""Whole telephone calls as sound, by the protocol of each carrier."""

from pathlib import Path

import pytest

import cast
from sentences import SENTENCES
from vbot.testing import Bot, Person, Script, Services
from vbot.testing.fixtures import mutes_people, program

CALLERS = [pytest.param(caller, id=name) for name, caller in cast.CALLERS.items()]
HAS_VOICE = "tts" in cast.SERVICES  # of its own; otherwise the model speaks


@pytest.mark.parametrize("person", CALLERS)
async def test_a_call_that_the_model_ends(
    person: type[Person], running_bot: Bot, script: Script
) -> None:
    goodbye = {"goodbye": "Talk to you soon."} if HAS_VOICE else {}
    script.when("That is all.", "Talk to you soon.", call="hang_up", arguments=goodbye)
    running_bot.begin_test()
    async with person.connected(running_bot, script) as caller:
        await caller.hears(script.greeting)
        await caller.speaks("Do you have a table for two?")
        await caller.hears("You said: Do you have a table for two?")
        await caller.speaks("That is all.")
        if HAS_VOICE:
            await caller.hears("Talk to you soon.")
        await caller.until(caller.gone.is_set, "hang up")


@pytest.mark.skipif(not HAS_VOICE, reason="the stand-ins of models that speak do not interrupt")
@pytest.mark.parametrize("person", CALLERS[:1])
async def test_a_caller_who_speaks_during_the_goodbye(
    person: type[Person], running_bot: Bot, script: Script
) -> None:
    """Is answered: the call does not end."""
    if mutes_people():
        pytest.skip("bot.py has user_mute_strategies, so nobody interrupts the bot")
    goodbye = "Talk to you soon. " + "It was nice to talk to you. " * 10
    script.when("That is all.", call="hang_up", arguments={"goodbye": goodbye})
    running_bot.begin_test()
    async with person.connected(running_bot, script) as caller:
        await caller.hears(script.greeting)
        await caller.speaks("That is all.")
        await caller.begins_to_hear("Talk to you soon.")
        await caller.speaks("I have one more question.")
        await caller.hears("You said: I have one more question.")
        assert not caller.gone.is_set()


@pytest.mark.parametrize("person", CALLERS[:1])
async def test_a_call_that_the_caller_ends(
    person: type[Person], running_bot: Bot, script: Script
) -> None:
    running_bot.begin_test()
    async with person.connected(running_bot, script) as caller:
        await caller.hears(script.greeting)
    await running_bot.ends_session()


@pytest.mark.parametrize("person", CALLERS[:1])
async def test_a_caller_who_says_nothing(
    person: type[Person], services: Services, script: Script, tmp_path: Path
) -> None:
    """Is asked twice, by a model that speaks where it can be told to. Then the call ends."""
    second = {"SILENCE_SECONDS": "1"}
    async with (
        program("bot.py", "PORT/status", services, tmp_path, **second) as bot,
        person.connected(bot, script) as caller,
    ):
        await caller.hears(script.greeting)
        if HAS_VOICE:
            await caller.hears(SENTENCES.still_there)
            await caller.hears(SENTENCES.still_there)
            await caller.hears(SENTENCES.silent_goodbye)
        await caller.until(caller.gone.is_set, "hang up")
