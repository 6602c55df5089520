"""Conversations with the bot: what it says, what the model is told, and what happens if it fails.

`script` says what the model answers. What it does not say, the model repeats.
"""

import pytest

from agent import SYSTEM_INSTRUCTION, TOOLS
from sentences import SENTENCES
from vbot.testing import Bot, Script, Services, Tester
from vbot.testing.fixtures import mutes_people


async def test_the_bot_greets(tester: Tester, script: Script) -> None:
    await tester.hears(script.greeting)


async def test_the_model_is_told_the_conversation(tester: Tester, script: Script) -> None:
    script.when("What is the capital of France?", "It is Paris.")
    await tester.hears(script.greeting)
    await tester.types("What is the capital of France?")
    await tester.hears("It is Paris.")
    await tester.types("And of Spain?")
    await tester.hears("You said: And of Spain?")
    assert script.instruction.startswith(SYSTEM_INSTRUCTION.strip())
    assert {tool.__name__ for tool in TOOLS} <= set(script.tools)
    assert script.conversation == [
        ("assistant", script.greeting),
        ("user", "What is the capital of France?"),
        ("assistant", "It is Paris."),
        ("user", "And of Spain?"),
    ]


async def test_the_bot_understands_speech(tester: Tester, script: Script) -> None:
    await tester.hears(script.greeting)
    await tester.speaks("Can you hear me?")
    await tester.hears("You said: Can you hear me?")


async def test_the_log_says_what_happens(tester: Tester, script: Script, running_bot: Bot) -> None:
    await tester.hears(script.greeting)
    await tester.speaks("Can you hear me?")
    await tester.hears("You said: Can you hear me?")
    answer = "'You said: Can you hear me?'"
    await tester.until(lambda: running_bot.events(answer), "log its answer")
    assert running_bot.events("Connected") and running_bot.events("Heard 'Can you hear me?'")
    assert running_bot.events(answer)[-1].startswith("Answered after ")


async def test_a_person_interrupts_the_bot(
    tester: Tester, services: Services, script: Script
) -> None:
    if mutes_people():
        pytest.skip("bot.py has user_mute_strategies, so nobody interrupts the bot")
    story = "Once upon a time there was a king. " + "He went on and on. " * 10 + "The end."
    script.when("Tell me a story.", story)
    is_timed = services.roles["tts"].timed
    await tester.hears(script.greeting)
    await tester.types("Tell me a story.")
    if is_timed:
        await tester.begins_to_hear("Once upon a time")
    else:
        await tester.until(lambda: "king" in " ".join(script.said), "begin")
    await tester.speaks("Please stop telling me this story.")  # longer than a cough
    await tester.hears("You said: Please stop telling me this story.")
    assert script.conversation[-1] == ("user", "Please stop telling me this story.")
    if is_timed:  # the model knows what was heard, and no more
        told = script.conversation[-2][1]
        assert told.startswith("Once upon a time") and "The end." not in told


async def test_the_bot_apologizes_if_the_model_fails(
    tester: Tester, services: Services, script: Script, running_bot: Bot
) -> None:
    await tester.hears(script.greeting)
    await services["llm"].fail(401)
    await tester.types("Are you there?")
    await tester.hears(SENTENCES.apology)
    assert services.roles["llm"].label in running_bot.reports()
