"""Conversations with the bot: what it says, what the model is told, and what happens if it fails.

`script` says what the model answers. What it does not say, the model repeats.
"""

import pytest

from bot import APOLOGY, SYSTEM_INSTRUCTION, TOOLS
from conftest import Services
from people import Bot, Tester
from stand_ins import Script


async def test_the_bot_greets(tester: Tester, script: Script) -> None:
    await tester.hears(script.greeting)


async def test_the_model_is_told_the_conversation(tester: Tester, script: Script) -> None:
    script.when("What is the capital of France?", "It is Paris.")
    await tester.hears(script.greeting)
    await tester.types("What is the capital of France?")
    await tester.hears("It is Paris.")
    await tester.types("And of Spain?")
    await tester.hears("You said: And of Spain?")
    assert script.instruction.startswith(SYSTEM_INSTRUCTION)
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


async def test_a_person_interrupts_the_bot(tester: Tester, script: Script) -> None:
    story = "Once upon a time there was a king. " + "He went on and on. " * 10 + "The end."
    script.when("Tell me a story.", story)
    await tester.hears(script.greeting)
    await tester.types("Tell me a story.")
    await tester.begins_to_hear("Once upon a time")
    await tester.speaks("Stop.")
    await tester.hears("You said: Stop.")
    assert script.conversation[-1] == ("user", "Stop.")
    told = script.conversation[-2][1]  # the model knows what was heard, and no more
    assert told.startswith("Once upon a time") and "The end." not in told


# What a person says, the tool that the model calls then, and the tool's arguments: one line for
# each tool in TOOLS of bot.py.
TOOL_CALLS: list[tuple[str, str, dict[str, str]]] = [
    # ("How long is it until Christmas?", "days_until", {"day": "2030-12-24"}),
]


@pytest.mark.parametrize(("question", "tool", "arguments"), TOOL_CALLS)
async def test_the_model_calls_a_tool(
    tester: Tester, script: Script, question: str, tool: str, arguments: dict[str, str]
) -> None:
    script.when(question, "Here you are.", call=tool, arguments=arguments)
    await tester.hears(script.greeting)
    await tester.types(question)
    await tester.hears("Here you are.")
    assert len(script.results) == 1


async def test_the_bot_apologizes_if_the_model_fails(
    tester: Tester, services: Services, script: Script, running_bot: Bot
) -> None:
    await tester.hears(script.greeting)
    await services.llm.fail(401)
    await tester.types("Are you there?")
    await tester.hears(APOLOGY)
    assert "Anthropic Claude" in running_bot.reports()
