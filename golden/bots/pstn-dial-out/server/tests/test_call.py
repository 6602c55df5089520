"""Whole conversations as sound, by the protocol of each transport."""

from typing import Any

import pytest

from people import Bot, Person, Visitor
from stand_ins import Script

# Who connects, to which program, and at which address if it is not the usual one.
VISITS = [
    pytest.param(Visitor, "running_bot", {}, id="smallwebrtc"),
]


@pytest.fixture
def bot(request: pytest.FixtureRequest, program: str) -> Bot:
    bot: Bot = request.getfixturevalue(program)
    bot.begin_test()
    return bot


@pytest.mark.parametrize(("person", "program", "options"), VISITS)
async def test_a_visit(
    person: type[Person], bot: Bot, options: dict[str, Any], script: Script
) -> None:
    async with person.connected(bot, script, **options) as visitor:
        await visitor.hears(script.greeting)
        await visitor.speaks("Can you hear me?")
        await visitor.hears("You said: Can you hear me?")
    await bot.ends_session()
