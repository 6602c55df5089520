"""Tests of agent.py. This file is yours: no update changes it.

A tool gets what the model chose as its arguments, and answers through `params.result_callback`.
`script` says what the model answers in a test; what it does not say, the model repeats.
"""

from pipecat.services.llm_service import FunctionCallParams

from vbot.testing import Script, Tester, called


async def opening_hours(params: FunctionCallParams, day: str):
    """Look up when the shop is open."""
    hours = "closed" if day == "Sunday" else "9:00 to 18:00"
    await params.result_callback({"day": day, "hours": hours})


async def test_a_tool_answers() -> None:
    """An example: instead of opening_hours above, import a tool of your own from agent."""
    params = await called(opening_hours, day="Sunday")
    params.result_callback.assert_awaited_once_with({"day": "Sunday", "hours": "closed"})


async def test_the_bot_says_what_the_model_says(tester: Tester, script: Script) -> None:
    """An example: with `call` and `arguments`, the model calls a tool before it answers."""
    script.when("Are you open on Sunday?", "No, we are closed.")
    await tester.hears(script.greeting)
    await tester.speaks("Are you open on Sunday?")
    await tester.hears("No, we are closed.")
