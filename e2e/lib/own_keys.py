"""Tests keys of a telephone. A project has this file in tests/.

agent.py and bot.py have the two recipes of RECIPES.md.
"""

import pytest

from vbot.testing import Bot, Script
from vbot.testing.people.asterisk import AsteriskCaller
from vbot.testing.people.exotel import ExotelCaller
from vbot.testing.people.phone import Phone
from vbot.testing.people.plivo import PlivoCaller
from vbot.testing.people.telnyx import TelnyxCaller
from vbot.testing.people.twilio import TwilioCaller


class UlawCaller(AsteriskCaller):
    """Over a line of 8 kHz, like the others: finding tones takes twice as long at 16 kHz."""

    form, rate, size = "ulaw", 8000, 160


CALLERS = [TwilioCaller, TelnyxCaller, PlivoCaller, ExotelCaller, UlawCaller]


@pytest.mark.parametrize("carrier", CALLERS)
async def test_keys(carrier: type[Phone], running_bot: Bot, script: Script) -> None:
    running_bot.begin_test()
    script.when("DTMF: 4711#", "Thank you, Ms. Miller.")
    script.when("DTMF: 12", "And the rest?")
    keys = {"keys": "01 234-56789*#"}
    script.when("Call the bank.", "It is ringing.", call="press_keys", arguments=keys)
    async with carrier.connected(running_bot, script) as caller:
        await caller.hears(script.greeting)
        await caller.presses("4711#")
        await caller.hears("Thank you, Ms. Miller.")
        await caller.presses("12")
        await caller.hears("And the rest?")
        assert caller.keys_heard() == ""
        await caller.speaks("Call the bank.")
        await caller.until(lambda: len(caller.keys_heard()) == 12, "press the keys")
        assert caller.keys_heard() == "0123456789*#"
    assert script.results == ['"You pressed 0123456789*#."']
