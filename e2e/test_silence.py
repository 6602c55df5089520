"""A caller who says nothing is asked; templates/unit/test_silence.py has other cases."""

import asyncio
from pathlib import Path

import bots
import faults
import network
import speech
from caller import until
from conversation import ANSWER, GREETING, KEYS, QUESTION
from phones import TwilioCaller
from standins import StandIns
from test_bots import CASCADE, TWILIO
from test_faults import two_calls

BOTH = ("-t", "twilio", "-t", "smallwebrtc", *CASCADE)


def test_a_late_answer_is_waited_for_and_a_visitor_may_be_silent(vbot: Path) -> None:
    """A caller who is asked to wait is not asked for more before the answer."""
    project = bots.installed(vbot, "silence", *BOTH)
    project.write_env(**KEYS, **TWILIO, SILENCE_SECONDS="2")

    async def conversation() -> None:
        listening, thinking, speaking = faults.services({QUESTION: ANSWER})
        twilio = faults.BusyTwilio(TwilioCaller.account, TWILIO["TWILIO_AUTH_TOKEN"])

        def said() -> list[str]:
            return [asked["transcript"] for asked in services.requests("cartesia", "speak")]

        async with (
            StandIns(listening, thinking, speaking, twilio) as services,
            project.bot(services.env) as bot,
            two_calls(bot) as (page, phone),
        ):
            await page.ready()
            await until(lambda: said().count(GREETING) == 2, 20)
            thinking.turn("thinks")
            phone.pcm += speech.speak(QUESTION, phone.rate)
            await until(lambda: ANSWER in said(), 60)
            assert "One moment, please." in said()
            await asyncio.sleep(1)
            assert said()[-1] == ANSWER  # no question waited for it
            await until(lambda: phone.ws.closed, 40)
            phone.over = True
            question = "Are you still there?"
            goodbye = "I cannot hear you, so I am ending the call. Goodbye."
            last = said().index(ANSWER)
            assert question not in said()[:last]
            assert said()[last + 1 :] == [question, question, goodbye]
            await asyncio.sleep(1)
            assert sum(bot.sessions().values()) == 1  # the visitor's goes on
            assert bot.errors() == []

    network.run(conversation, 120)
