"""The monitor leaves healthy bots alone, and the code in RECIPES.md for timeouts works as it is."""

import asyncio
import re
from pathlib import Path

import pytest

import bots
import editing
import faults
import network
import recipes
import speech
from caller import Caller, until
from conversation import ANSWER, GREETING, KEYS, QUESTION
from phones import TwilioCaller
from standins import StandIns
from test_bots import CASCADE, TWILIO
from test_faults import STORY, told, told_on, two_calls

WAIT = "One moment, please."
MESSAGE = '{"label": "rtvi-ai", "type": "client-message", "id": "1", "data": {"t": "%s"}}'


@pytest.fixture(scope="module")
def project(vbot: Path) -> bots.Project:
    project = bots.installed(vbot, "patience", "-t", "twilio", "-t", "smallwebrtc", *CASCADE)
    project.write_env(**KEYS, **TWILIO, SILENCE_SECONDS="0")  # see test_silence.py
    return project


def with_recipes(project: bots.Project) -> str:
    """bot.py with a limit, a model that takes over from one whose key is refused, and a mute."""
    files = recipes.read(project)
    said = editing.documents(project.folder)
    for title, recipe in (
        ("Give a slow service more time", recipes.more_time),
        ("Let another service take over", recipes.second_services),
        ("Mute the person", recipes.mute),
    ):
        files = recipe(files, said["RECIPES.md", title])
    code = files["bot.py"]
    model = editing.text_of(code, editing.statement(code, "llm"))
    refused, count = re.subn(r"api_key=.*", 'api_key="sk-refused",', model)
    assert count == 1
    return code.replace(model, refused, 1)  # that of the first, not of the second


def test_healthy_bots_are_left_alone(project: bots.Project) -> None:
    """This holds for noise, muted people, and models that are slow or say nothing."""
    (project.server / "recipes.py").write_text(with_recipes(project))
    answers = {QUESTION: ANSWER}

    async def conversation() -> None:
        listening, thinking, speaking = faults.services(answers)
        twilio = faults.BusyTwilio(TwilioCaller.account, TWILIO["TWILIO_AUTH_TOKEN"])

        def said(sentence: str) -> int:
            asked = services.requests("cartesia", "speak")
            return sum(sentence in request["transcript"] for request in asked)

        async with (
            StandIns(listening, thinking, speaking, twilio) as services,
            project.bot(services.env, script="recipes.py") as bot,
            two_calls(bot) as (page, phone),
        ):
            callers: tuple[Caller, ...] = (page, phone)

            async def ask(last: str, times: int, within: float) -> None:
                for caller in callers:
                    caller.pcm += speech.speak(QUESTION, caller.rate)
                await until(lambda: said(last) == times, within)
                assert said(last) == times, bot.log

            await page.ready()
            await until(lambda: said(GREETING) == 2, 20)  # by the model that takes over
            await asyncio.sleep(5)
            listening.turn("is silent")
            for caller in callers:  # a radio
                caller.pcm += speech.speak(" ".join(STORY), caller.rate)
            await asyncio.sleep(45)
            assert said("Sorry") == 0, bot.log
            page.send_text(MESSAGE % "mute")
            page.pcm += speech.speak(QUESTION, page.rate)
            await asyncio.sleep(26)
            assert not told_on(page)
            page.send_text(MESSAGE % "unmute")
            listening.turn("")
            await ask(ANSWER, 2, 20)
            await asyncio.sleep(4)
            waits = said(WAIT)
            thinking.turn("thinks")
            await ask(ANSWER, 4, 40)
            assert said(WAIT) == waits + 1  # the page shows it
            assert told(bot) == []
            answers[QUESTION] = "..."
            thinking.turn("")
            for caller in callers:
                caller.pcm += speech.speak(QUESTION, caller.rate)
            await asyncio.sleep(26)
            answers[QUESTION] = ANSWER
            await ask(ANSWER, 6, 20)
            assert told(bot) == []
            assert said("Sorry") == 0
            assert not told_on(page)
            errors = bot.errors()  # of the two models whose key is refused
            assert len(errors) == 2 and all("Error during completion" in e for e in errors), errors
            thinking.unexpected.clear()

    network.run(conversation, 300)
