"""Calls of a real Asterisk, configured as DEPLOY.md says: where ASTERISK_PREFIX has one.

Without it, test_phones.py and others call with a stand-in that behaves as this one did.
"""

from pathlib import Path

import pytest

import bots
import network
from caller import EAR, until
from conversation import ANSWER, GREETING, KEYS, QUESTION
from pbx import ACCESS, CALLER, PREFIX, pbx
from services import Call, Cartesia, Deepgram, OpenAI
from sip_phone import telephone
from standins import StandIns

CASCADE = ["-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia"]
REASON = "ASTERISK_PREFIX does not say where an Asterisk is installed"
pytestmark = [pytest.mark.alone, pytest.mark.skipif(not PREFIX, reason=REASON)]


@pytest.fixture(scope="module")
def hotline(vbot: Path) -> bots.Project:
    return bots.installed(vbot, "asterisk", "-t", "asterisk", "--self-host", *CASCADE)


def services(answers: dict[str, object]) -> StandIns:
    words = [*answers, GREETING, *(text for text in answers.values() if isinstance(text, str))]
    return StandIns(
        Deepgram(KEYS["DEEPGRAM_API_KEY"], words),
        OpenAI(KEYS["OPENAI_API_KEY"], GREETING, answers),
        Cartesia(KEYS["CARTESIA_API_KEY"]),
    )


def test_a_caller_is_greeted_answered_and_hears_the_whole_goodbye(hotline: bots.Project) -> None:
    hotline.write_env(**KEYS, **ACCESS)
    bye = "Goodbye, and have a very nice day in Paris."
    answers = {QUESTION: ANSWER, "That is all, thank you.": Call("hang_up", {"goodbye": bye})}

    async def calls() -> None:
        async with services(answers) as stand_ins:
            async with hotline.bot(stand_ins.env, script="self_host.py") as bot:
                port = int(bot.url.rpartition(":")[2])
                async with pbx(hotline, port) as exchange, telephone("4930123", CALLER) as caller:
                    await caller.call("100")
                    await caller.hear(GREETING)
                    await caller.say(QUESTION)
                    await caller.hear(ANSWER)
                    await caller.say("That is all, thank you.")
                    await until(caller.gone.is_set, 20)
                    assert caller.gone.is_set()
                    await caller.hear(bye, 1)
                    assert bot.errors() == []
                    assert "from-internal" not in exchange.log.partition("Hangup")[0]

    network.run(calls)
