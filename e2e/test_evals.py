"""A project made with `--eval` passes the scenarios that come with it."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import bots
import network
from conversation import ANSWER, GREETING, KEYS, stand_ins
from standins import StandIns

# Scenarios in a shape that the framework is about to drop count as broken.
LOAD = """
import sys, warnings
from pipecat.evals.scenario import EvalScenarioFile
warnings.simplefilter("error", DeprecationWarning)
for path in sys.argv[1:]:
    for scenario in EvalScenarioFile.load(path):
        print(scenario.name, scenario.user_audio, scenario.bot_audio)
"""

# The harness hangs up and tells the bot to end; in 1.14 the framework then closes the socket once
# more, and logs what that raises, which is an exception without a text.
CLOSED_TWICE = re.compile(r"FastAPIWebsocketClient.* exception while closing the websocket: $")


def starter(project: bots.Project, name: str) -> dict[str, Any]:
    return yaml.safe_load((project.server / f"evals/{name}.yaml").read_text())


def turns(scenario: dict[str, Any]) -> list[dict[str, Any]]:
    return [turn for entry in scenario["scenarios"] for turn in entry["turns"]]


def user_lines(scenario: dict[str, Any]) -> list[str]:
    return [turn["user"] for turn in turns(scenario) if "user" in turn]


def stricter(project: bots.Project, name: str, within_ms: int = 30000) -> Path:
    """The starter scenario, expecting the very words that are said.

    A spoken one gets our voice and our ear: the models of its own come from a hub.
    """
    scenario = starter(project, name)
    for turn in turns(scenario):
        for expected in turn["expect"]:
            said = ANSWER if "user" in turn else GREETING
            if expected["event"] == "user_transcription":
                said = turn["user"]
            expected["text_contains"] = said
            expected["within_ms"] = within_ms
    if scenario.get("user", {}).get("modality") == "audio":
        scenario["user"]["speech"] = {"factory": "eval_speech.voice"}
        ear = {"factory": "eval_speech.ear", "sentences": [GREETING, ANSWER]}
        scenario["judge"]["transcription"] = ear
    path = bots.PROJECTS / f"stricter_{name}.yaml"
    path.write_text(yaml.safe_dump(scenario))
    return path


def evaluate(project: bots.Project, file: Path, greeting: str = GREETING) -> StandIns:
    """`pipecat eval run FILE` against the project's running bot; the services that it used."""
    project.write_env(**KEYS)
    lines = user_lines(yaml.safe_load(file.read_text()))
    services = stand_ins(tuple(lines), greeting)

    async def evaluation() -> None:
        async with services, project.bot(services.env) as bot:
            url = bot.url.replace("http", "ws", 1) + "/ws"
            command = (
                "uv",
                "run",
                "--group",
                "evals",
                "pipecat",
                "eval",
                "run",
                file,
                "--bot-url",
                url,
            )
            options = ("--no-cache", "--verbose", "--logs-dir", bots.CACHE / "logs")
            # The harness is the framework's own program, and its voice detection calls a third
            # host unless told not to. The bot gets no such help: it has to see to that itself.
            env = bots.plain_env() | {"ORT_DISABLE_TELEMETRY": "1"}
            env |= {"PYTHONPATH": str(Path(__file__).parent), "PYTHONDONTWRITEBYTECODE": "1"}
            await asyncio.to_thread(
                bots.must, *command, *options, cwd=project.server, env=env, timeout=100
            )
            assert [line for line in bot.errors() if not CLOSED_TWICE.search(line)] == []

    network.run(evaluation)
    return services


def test_the_starter_scenarios_are_what_the_framework_reads(evaluated: bots.Project) -> None:
    files = ["evals/starter_text.yaml", "evals/starter_audio.yaml"]
    assert evaluated.files >= {f"server/{file}" for file in files}
    loaded = bots.must(
        "uv", "run", "--group", "evals", "python", "-c", LOAD, *files, cwd=evaluated.server
    )
    assert [line for line in loaded.splitlines() if line.startswith("starter_")] == [
        "starter_text/starter_text False False",
        "starter_audio/starter_audio True True",
    ]


def test_the_bot_passes_the_written_starter_scenario(evaluated: bots.Project) -> None:
    services = evaluate(evaluated, evaluated.server / "evals/starter_text.yaml")
    asked = [chat["messages"][-1] for chat in services.requests("openai", "chat")]
    lines = user_lines(starter(evaluated, "starter_text"))
    assert lines
    assert asked[1:] == [{"role": "user", "content": line} for line in lines]
    # In writing: nothing was spoken.
    assert services.requests("cartesia", "speak") == []


def test_the_bot_passes_the_spoken_starter_scenario(evaluated: bots.Project) -> None:
    services = evaluate(evaluated, stricter(evaluated, "starter_audio"))
    heard = [asked["heard"] for asked in services.requests("deepgram", "finalize")]
    assert [words for words in heard if words] == user_lines(starter(evaluated, "starter_audio"))
    spoken = [said["transcript"].strip() for said in services.requests("cartesia", "speak")]
    assert spoken == [GREETING, ANSWER]


def test_a_bot_that_says_the_wrong_thing_fails_its_scenario(evaluated: bots.Project) -> None:
    """That the others pass means something: the same way of running can fail."""
    scenario = stricter(evaluated, "starter_text", within_ms=2000)
    with pytest.raises(AssertionError, match=f"does not contain '{GREETING}"):
        evaluate(evaluated, scenario, greeting="Go away.")
