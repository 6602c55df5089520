"""A project made with `--eval` passes the evals that come with it.

test_mutations.py tests that a broken one fails them.
"""

import re
from pathlib import Path

import pytest
from playwright.async_api import expect

import bots
import evals
import network
from clients import chromium, recording
from conversation import GREETING, KEYS, QUESTION
from evals import AUDIO, TEXT
from model import ANSWERS, WHICH, Model
from realtime import RealtimeOpenAI
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


@pytest.fixture(scope="module")
def realtime(vbot: Path) -> bots.Project:
    options = ["-t", "smallwebrtc", "-m", "realtime", "--realtime", "openai", "--eval"]
    return bots.installed(vbot, "evaluated_realtime", *options)


def evaluate(project: bots.Project, services: StandIns, file: Path) -> str:
    """Run one eval, without errors in the bot's log; return why it failed, or ""."""

    async def evaluation() -> str:
        async with services, project.bot(services.env) as bot:
            verdicts = await evals.hold(project, bot, file)
            assert [line for line in bot.errors() if not CLOSED_TWICE.search(line)] == []
        return verdicts[file.stem]

    return network.run(evaluation)


def to_the_word(project: bots.Project) -> Path:
    """The spoken starter eval, expecting the very words that are said."""
    scenario = evals.starter(project, AUDIO)
    for turn in evals.turns(scenario):
        for expected in turn["expect"]:
            if expected["event"] == "response":
                expected["text_contains"] = ANSWERS[turn["user"]] if "user" in turn else GREETING
            if expected["event"] == "user_transcription":
                expected["text_contains"] = turn["user"]
    return evals.written(scenario, project.folder)


def test_the_starter_evals_are_what_the_framework_reads(evaluated: bots.Project) -> None:
    files = ["evals/starter_text.yaml", "evals/starter_audio.yaml"]
    assert evaluated.files >= {f"server/{file}" for file in files}
    loaded = bots.must(
        "uv", "run", "--group", "evals", "python", "-c", LOAD, *files, cwd=evaluated.server
    )
    assert [line for line in loaded.splitlines() if line.startswith("starter_")] == [
        "starter_text/starter_text False False",
        "starter_audio/starter_audio True True",
    ]


@pytest.mark.quick
def test_the_bot_passes_the_written_starter_eval(evaluated: bots.Project) -> None:
    evaluated.write_env(**KEYS)
    services = evals.stand_ins(Model(KEYS["OPENAI_API_KEY"]))
    assert evaluate(evaluated, services, evaluated.server / f"evals/{TEXT}.yaml") == ""
    # In writing: nothing was spoken.
    assert services.requests("cartesia", "speak") == []


def test_a_conversation_on_the_page_becomes_an_eval(
    evaluated: bots.Project, tmp_path: Path
) -> None:
    """Talk once, save it, and the bot passes it: until it says something else."""
    evaluated.write_env(**KEYS)

    async def talk() -> Path:
        async with (
            evals.stand_ins(Model(KEYS["OPENAI_API_KEY"])) as services,
            evaluated.bot(services.env) as bot,
            chromium(recording(tmp_path / "person.wav")) as browser,
            browser.visit(f"{bot.url}/", "microphone") as visit,
        ):
            await visit.connect()
            await visit.button("Mute").click()
            await expect(visit.entries("Bot", GREETING)).to_have_count(1, timeout=20_000)
            for question in (QUESTION, WHICH):
                await visit.page.get_by_label("Message").fill(question)
                await visit.page.get_by_label("Message").press("Enter")
                answered = visit.entries("Bot", ANSWERS[question])
                await expect(answered).to_have_count(1, timeout=20_000)
            async with visit.page.expect_download() as saved:
                await visit.button("Save as scenario").click()
            file = evaluated.server / "evals/conversation.yaml"
            await (await saved.value).save_as(file)
            return file

    file = network.run(talk)
    key = KEYS["OPENAI_API_KEY"]
    assert evaluate(evaluated, evals.stand_ins(Model(key)), file) == ""
    assert '"France"' in file.read_text()
    file.write_text(file.read_text().replace('"France"', '"Spain"'))
    failed = evaluate(evaluated, evals.stand_ins(Model(key)), file)
    assert "does not contain 'Spain'" in failed


def test_the_bot_passes_the_spoken_starter_eval(evaluated: bots.Project) -> None:
    evaluated.write_env(**KEYS)
    services = evals.stand_ins(Model(KEYS["OPENAI_API_KEY"]))
    assert evaluate(evaluated, services, to_the_word(evaluated)) == ""
    said = [turn.get("user") for turn in evals.turns(evals.starter(evaluated, AUDIO))]
    asked = [question for question in said if question]
    heard = [finalized["heard"] for finalized in services.requests("deepgram", "finalize")]
    assert [words for words in heard if words] == asked
    spoken = [said["transcript"].strip() for said in services.requests("cartesia", "speak")]
    assert spoken == [GREETING, *(ANSWERS[question] for question in asked)]


def test_a_realtime_bot_passes_the_spoken_starter_eval(realtime: bots.Project) -> None:
    key = KEYS["OPENAI_API_KEY"]
    realtime.write_env(OPENAI_API_KEY=key)
    assert not (realtime.server / f"evals/{TEXT}.yaml").exists()
    services = StandIns(RealtimeOpenAI(key, GREETING, ANSWERS))
    assert evaluate(realtime, services, to_the_word(realtime)) == ""


def test_a_realtime_bot_that_says_nothing_fails_its_eval(realtime: bots.Project) -> None:
    key = KEYS["OPENAI_API_KEY"]
    realtime.write_env(OPENAI_API_KEY=key)
    services = StandIns(RealtimeOpenAI(key, "", {}))
    scenario = evals.limited(evals.starter(realtime, AUDIO), 4)
    failed = evaluate(realtime, services, evals.written(scenario, realtime.folder))
    assert failed.startswith("t0 response: no matching 'response' event")
