"""Conversations with a model that hears and speaks itself, and what happens if it fails.

`script` says what the model answers. What it does not say, the model repeats.
"""

from agent import SYSTEM_INSTRUCTION, TOOLS
from vbot.testing import Bot, Script, Services, Tester


async def test_the_bot_greets(tester: Tester, script: Script) -> None:
    await tester.hears(script.greeting)
    assert script.instruction.startswith(SYSTEM_INSTRUCTION.strip())
    assert {tool.__name__ for tool in TOOLS} <= set(script.tools)


async def test_the_bot_answers(tester: Tester, script: Script) -> None:
    script.when("What is the capital of France?", "It is Paris.")
    await tester.hears(script.greeting)
    await tester.speaks("What is the capital of France?")
    await tester.hears("It is Paris.")
    await tester.speaks("And of Spain?")
    await tester.hears("You said: And of Spain?")


async def test_the_log_says_what_happens(tester: Tester, script: Script, running_bot: Bot) -> None:
    await tester.hears(script.greeting)
    await tester.speaks("Can you hear me?")
    await tester.hears("You said: Can you hear me?")
    answer = "'You said: Can you hear me?'"
    await tester.until(lambda: running_bot.events(answer), "log its answer")
    assert running_bot.events("Connected") and running_bot.events("Heard 'Can you hear me?'")
    assert running_bot.events(answer)[-1].startswith(("Answered after ", "Said "))


async def test_a_service_that_refuses_the_key_is_named(
    services: Services, running_bot: Bot
) -> None:
    label = services.roles["llm"].label
    running_bot.begin_test()
    await services["llm"].fail(401)
    async with Tester.connected(running_bot, services.script) as tester:
        await tester.until(lambda: label in running_bot.reports(), "name it")
