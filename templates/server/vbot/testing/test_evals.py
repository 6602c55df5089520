"""Tests the bot with the text scenarios of evals/, without a real model.

The stand-in of the model says what a scenario expects. So these tests show that the scenarios
and the bot fit together; a run of the evals themselves shows whether a real model passes them.
"""

import re

import pytest
from pipecat.evals.scenario import EvalScenarioFile, EvalScriptScenario
from pipecat.evals.session import EvalSession

import agent
from vbot.testing import Bot, Script
from vbot.testing.fixtures import SERVER

SAID_BY_NO_MODEL = (
    "The first turn waits for a greeting of the model, which SAY_GREETING in agent.py turns off. "
    "Delete this turn: its lines from `- expect:` to the next `- user:`."
)
EVALS = SERVER / "evals"
SCENARIOS = [
    pytest.param(scenario, id=f"{file.stem}, {scenario.name}")
    for file in sorted(EVALS.glob("*.yaml"))
    for scenario in EvalScenarioFile.load(file)
    if isinstance(scenario, EvalScriptScenario) and not (scenario.user_audio or scenario.bot_audio)
]


def follow(scenario: EvalScriptScenario, script: Script) -> None:
    """Have the model answer what the scenario expects."""
    if agent.SAY_GREETING and not scenario.turns[0].user:
        pytest.fail(f"{scenario.name}: {SAID_BY_NO_MODEL}", pytrace=False)
    for turn in scenario.turns:
        calls = [call for expected in turn.expect for call in expected.calls or []]
        texts = [expected.text_contains for expected in turn.expect if expected.text_contains]
        criteria = [expected.eval for expected in turn.expect if expected.eval]
        texts += [words.split("|")[0] for words in re.findall('"(.+?)"', " ".join(criteria))]
        say = f"I say {' and '.join(texts) or 'something'}."
        if not turn.user:
            script.greeting = say
        elif calls:
            script.when(turn.user, say, calls[0].name or "", calls[0].args)
        else:
            script.when(turn.user, say)


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_the_bot_passes(
    scenario: EvalScriptScenario, running_bot: Bot, script: Script
) -> None:
    running_bot.begin_test()
    follow(scenario, script)
    address = running_bot.url.replace("http", "ws", 1) + "/ws"
    result = await EvalSession.from_scenario(scenario, address).run()
    reasons = "\n".join(str(failure) for failure in result.failures)
    assert result.passed, f"{reasons}\n{running_bot.errors()}"
