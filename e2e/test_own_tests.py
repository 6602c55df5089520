"""A project's own tests pass unchanged, without a network, and notice errors.

The steps of `.github/workflows/test.yml` run in their order. Only those that install packages have
a network.
"""

import functools
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import bots
import editing
import recipes
from own_tests import pytest_in, without_network

CASCADE = ("-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia")
LOCAL = ("-m", "cascade", "--stt", "moonshine", "--llm", "ollama", "--tts", "piper")
REPLACED = ("-m", "cascade", "--stt", "azure", "--llm", "vertex", "--tts", "google")
BOTS = {
    "web": ("-t", "smallwebrtc", *CASCADE),
    "telephone": ("-t", "twilio", "-t", "smallwebrtc", *CASCADE, "--self-host"),
    "Asterisk": ("-t", "asterisk", *CASCADE, "--self-host"),
    "carriers": ("-t", "telnyx", "-t", "plivo", "-t", "exotel", "-t", "websocket", *CASCADE),
    "LiveKit": ("-t", "livekit", *CASCADE, "--self-host", "--client-framework", "vanilla"),
    "realtime": ("-t", "twilio", "-m", "realtime", "--realtime", "openai", "--recording"),
    "TLS": ("-t", "smallwebrtc", "-m", "realtime", "--realtime", "gemini_live"),
    "on this machine": ("-t", "smallwebrtc", *LOCAL, "--recording"),
    "replaced services": ("-t", "smallwebrtc", *REPLACED, "--language", "de"),
    "a face": ("-t", "smallwebrtc", *CASCADE, "--video", "tavus", "--video-output"),
}
ACTIONS = {"actions/checkout", "actions/setup-node", "astral-sh/setup-uv"}
# Of a person who has keys in the environment, and real ones in .env.
REAL: dict[str, Any] = {
    "OPENAI_API_KEY": "a-real-key-of-the-environment",
    "OPENAI_MODEL": "a-model",
}


def generated(vbot: Path, name: str) -> bots.Project:
    folder = bots.PROJECTS / f"tests-{name.replace(' ', '-')}"
    return bots.generate(vbot, folder, "tested", *BOTS[name], "--eval")


def steps(project: bots.Project, job: str) -> Iterator[tuple[str, Path]]:
    """The commands of a job, and where they run."""
    workflow = yaml.safe_load((project.folder / ".github/workflows/test.yml").read_text())
    described: dict[str, Any] = workflow["jobs"][job]
    folder = project.folder / described["defaults"]["run"]["working-directory"]
    for step in described["steps"]:
        if "uses" in step:
            assert step["uses"].split("@")[0] in ACTIONS, step
        else:
            yield step["run"], folder


def carry_out(command: str, folder: Path) -> str:
    """Run a step as GitHub does, with a bash that stops at the first failure; return its output."""
    shell = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command)
    if re.match(r"uv sync|npm install", command):
        return bots.must(*shell, cwd=folder)
    done = without_network(*shell, cwd=folder)
    assert done.returncode == 0, f"{command}:\n{done.stdout[-8000:]}{done.stderr}"
    return done.stdout


def check(project: bots.Project) -> str:
    """Run the whole workflow, and return the output of pytest."""
    said = ""
    for job in ["server"] + ["client"] * (project.folder / "client").is_dir():
        for command, folder in steps(project, job):
            printed = carry_out(command, folder)
            said += printed if "pytest" in command else ""
    return said


@pytest.mark.quick
def test_the_workflow_of_a_web_bot_passes(vbot: Path) -> None:
    said = check(generated(vbot, "web"))
    assert re.search(r"\b15 passed\b", said), said


@pytest.mark.parametrize("name", [name for name in BOTS if name != "web"])
def test_the_workflow_passes(vbot: Path, name: str) -> None:
    said = check(generated(vbot, name))
    assert " passed" in said and "failed" not in said, said


@pytest.fixture(scope="module")
def made(vbot: Path) -> bots.Project:
    project = generated(vbot, "telephone")
    project.sync("--group", "test")
    return project


ADDED = (
    "alerts.py",
    "evals/judges.py",
    "evals/no_advice.yaml",
    "days.py",
    "handing_over.py",
    "tests/test_days.py",
    "tests/test_handing_over.py",
    "tests/test_alerts.py",
)
EDITED = ("agent.py", "appointments.py", "bot.py", "evals/starter_text.yaml", "tests/test_agent.py")


@pytest.fixture
def project(made: bots.Project) -> Iterator[bots.Project]:
    """With its files as they were made, before and after."""
    kept = {made.server / name: (made.server / name).read_text() for name in EDITED}
    yield made
    for file, text in kept.items():
        file.write_text(text)
    for name in (*ADDED, ".env"):
        (made.server / name).unlink(missing_ok=True)


# What is replaced in bot.py, by what, and the test that notices it.
MUTATIONS = {
    "no greeting": (r"(?<=async def on_ready\(conversation\):\n)", "        return\n"),
    "no tool": (r"^        vbot.hang_up,\n", ""),
    "lost context": (r"^            assistant_aggregator,\n", ""),
    "wrong order": (
        r"^            transport.output\(\),\n            assistant_aggregator,\n",
        "            assistant_aggregator,\n            transport.output(),\n",
    ),
    "a key that is not read": (r'os.getenv\("DEEPGRAM_API_KEY", "none"\)', '"none"'),
    "another key": (r'os.environ\["CARTESIA_API_KEY"\]', 'os.environ["OPENAI_API_KEY"]'),
    "no voice": (r"^            tts,\n", ""),
    "no ear": (r"^            stt,\n", ""),
    "no apology": (r"^    return pipeline, services\n", "    return pipeline, {}\n"),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_what_is_wrong_is_noticed(project: bots.Project, name: str) -> None:
    pattern, by = MUTATIONS[name]
    bot = project.server / "bot.py"
    text, found = re.subn(pattern, by, bot.read_text(), flags=re.MULTILINE)
    assert found == 1, f"{name}: found {found} times"
    bot.write_text(text)
    done = pytest_in(project, "vbot/testing", "-x")
    assert done.returncode == 1, done.stdout
    assert "FAILED vbot/testing/test_" in done.stdout, done.stdout


def test_a_service_that_failed_is_the_reason_that_is_given(project: bots.Project) -> None:
    bot = project.server / "bot.py"
    wrong = ('os.environ["CARTESIA_API_KEY"]', '"none"')
    bot.write_text(editing.replaced(bot.read_text(), wrong))
    tests = ("vbot/testing/test_evals.py", "vbot/testing/test_conversation.py")
    done = pytest_in(project, *tests, "-x")
    assert done.returncode == 1
    assert "Cartesia refused the key. Check CARTESIA_API_KEY" in done.stdout, done.stdout


def test_env_is_not_read_and_the_environment_is(project: bots.Project) -> None:
    """A key of the environment reaches the stand-in, and one of .env does not."""
    (project.server / ".env").write_text(
        "DEEPGRAM_API_KEY=real\nOPENAI_BASE_URL=http://real.example\n"
    )
    tests = project.server / "tests/test_agent.py"
    asserts = (
        "\n\nasync def test_settings(tester, services, script):\n"
        "    await tester.hears(script.greeting)\n"
        '    assert services["llm"].key == "a-real-key-of-the-environment"\n'
        '    assert services["llm"].requests[-1]["model"] == "a-model"\n'
        '    assert services["stt"].key == "test-deepgram-api-key"\n'
    )
    tests.write_text(tests.read_text() + asserts)
    done = pytest_in(project, "tests/test_agent.py", "-k", "settings", **REAL)
    assert done.returncode == 0, done.stdout


def test_ten_runs_beside_a_busy_loop_are_the_same(made: bots.Project) -> None:
    loops = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True)
        for _ in range(os.cpu_count() or 1)
    ]
    try:
        for _ in range(10):
            done = pytest_in(made)
            assert done.returncode == 0, done.stdout
    finally:
        for loop in loops:
            os.killpg(loop.pid, signal.SIGKILL)
            loop.wait()


TOOL = """
from days import days_until


async def test_days(tester, script):
    script.when("How long?", "Long.", call="days_until", arguments={"day": "2030-12-24"})
    await tester.hears(script.greeting)
    await tester.speaks("How long?")
    await tester.hears("Long.")


async def test_the_day_is_that_of_the_clock(clock):
    from vbot.testing import called

    clock.set("2030-12-23 23:59")
    params = await called(days_until, day="2030-12-24")
    params.result_callback.assert_awaited_once_with({"today": "2030-12-23", "days": 1})
"""


def test_a_tool_of_the_owner_is_called(project: bots.Project) -> None:
    """As README.md adds it. What is wrong with it is told with its line."""
    recipes.follow(project, "README.md", "Tools", recipes.tool)
    tests, module = project.server / "tests/test_days.py", project.server / "days.py"
    tests.write_text(TOOL)
    done = pytest_in(project, "tests/test_days.py")
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout

    tests.write_text(TOOL.replace('{"day": "2030', '{"days": "2030'))  # it has no such argument
    done = pytest_in(project, "tests/test_days.py", "-k", "test_days")
    assert done.returncode == 1 and "failed and returned no result" in done.stdout, done.stdout
    assert "unexpected keyword argument 'days'" in done.stdout, done.stdout

    tests.write_text(TOOL)
    module.write_text(editing.replaced(module.read_text(), ("(day) -", "(day + '?') -")))
    done = pytest_in(project, "tests/test_days.py", "-k", "test_days")
    assert done.returncode == 1, done.stdout
    assert re.search(
        r"The tool days_until failed: ValueError: .*\(days\.py, line 13, in days_until: days = ",
        done.stdout,
    ), done.stdout

    agent = project.server / "agent.py"
    agent.write_text(editing.replaced(agent.read_text(), ("    days_until,\n", "")))
    done = pytest_in(project, "tests/test_days.py", "-k", "test_days")
    assert done.returncode == 1, done.stdout
    assert "The model has no tool days_until: add it to TOOLS in agent.py" in done.stdout
    assert "OpenAI" not in done.stdout, done.stdout


def test_callers_book_at_an_api_of_the_owner(project: bots.Project) -> None:
    """With the example, as RECIPES.md says. The tests, as they are, notice an edit of the tool.

    Once it is the owner's, they also notice that the bot does not have it.
    """
    title = "A tool that calls your own HTTP API"
    recipes.follow(project, "RECIPES.md", title, recipes.tool)
    done = pytest_in(project, "tests")
    assert done.returncode == 0 and "4 passed" in done.stdout, done.stdout

    agent = project.server / "agent.py"
    source = agent.read_text()
    agent.write_text(editing.replaced(source, ("    book_appointment,\n", "")))
    done = pytest_in(project, "tests", "-k", "a_caller_books")
    assert done.returncode == 1, done.stdout
    assert "The model has no tool book_appointment: add it to TOOLS in agent.py" in done.stdout
    agent.write_text(source)

    tool = project.server / "appointments.py"
    tool.write_text(editing.replaced(tool.read_text(), ('/appointments"', '/bookings"')))
    done = pytest_in(project, "tests", "-k", "the_tool_books")
    assert done.returncode == 1, done.stdout


JUDGE = """
from pipecat.evals.scenario import load_scenario_file
from pipecat.evals.services import classifier_from_config

print(load_scenario_file("evals/no_advice.yaml"))
judge = {"factory": "evals.judges.openai", "model": "gpt-4.1"}
made = classifier_from_config(judge, where="judge.eval")
print(type(made).__name__, made._llm._settings.model)
"""


def test_a_judge_uses_the_key_of_the_owner(project: bots.Project) -> None:
    section = editing.documents(project.folder)["RECIPES.md", "A judge with your OpenAI key"]
    (project.server / "evals/judges.py").write_text(section.blocks[0])
    _, _, rest = (project.folder / "RECIPES.md").read_text().partition("```yaml\nname: no_advice\n")
    (project.server / "evals/no_advice.yaml").write_text(f"name: no_advice\n{rest.split('```')[0]}")
    done = without_network(
        ".venv/bin/python", "-c", JUDGE, cwd=project.server, OPENAI_API_KEY="sk-test"
    )
    assert done.returncode == 0 and "LLMClassifier gpt-4.1" in done.stdout, done
    assert "names no medicine" in done.stdout, done.stdout


ALERTS = """
from aiohttp import web

from vbot.testing import Api, Script, Services, Tester


class Alerts(Api):
    address_in = "ALERTS_URL"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        return web.Response(text="ok")


async def test_a_person_is_told(tester: Tester, script: Script, services: Services) -> None:
    alerts = services.of(Alerts)
    await tester.hears(script.greeting)
    assert not alerts.requests
    await services["llm"].fail(401)
    await tester.speaks("At two.")
    await tester.until(lambda: alerts.requests, "tell a person")
    assert "OPENAI_API_KEY" in alerts.requests[0]["body"]["text"]
"""


def test_a_person_is_told_that_a_service_has_failed(project: bots.Project) -> None:
    title = "Tell a person that a service has failed"
    recipes.follow(project, "RECIPES.md", title, recipes.alerts)
    (project.server / "tests/test_alerts.py").write_text(ALERTS)
    done = pytest_in(project, "tests/test_alerts.py")
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout


def put_through(project: bots.Project) -> None:
    """Follow DEPLOY.md, and run the test of RECIPES.md: on Mondays, and not on Sundays."""
    recipes.follow(project, "DEPLOY.md", "Handing a call to a person", recipes.hand_over)
    section = editing.documents(project.folder)["RECIPES.md", "The test of a transfer"]
    [test] = section.blocks
    (project.server / "tests/test_handing_over.py").write_text(test)
    done = pytest_in(project, "tests/test_handing_over.py")
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout


def test_callers_are_put_through(project: bots.Project) -> None:
    put_through(project)


WITHOUT_ARI = '''"""Without ARI, the dialplan goes on with its next line, whatever the bot says."""

from vbot.testing import Carriers, Clock, Script
from vbot.testing.people.asterisk import AsteriskCaller


async def test_the_dialplan_goes_on(
    caller: AsteriskCaller, script: Script, clock: Clock, carrier: Carriers
) -> None:
    clock.set("2030-12-23 10:00")
    script.when("A person, please.", call="hand_over", arguments={"goodbye": "One moment."})
    await caller.hears(script.greeting)
    await caller.speaks("A person, please.")
    await caller.until(caller.gone.is_set, "leave the call")
    assert caller.cause == 38 and not carrier.next
'''


def test_callers_are_put_through_over_asterisk(vbot: Path) -> None:
    project = generated(vbot, "Asterisk")
    project.sync("--group", "test")
    put_through(project)
    (project.server / "tests/test_next_line.py").write_text(WITHOUT_ARI)
    with (project.server / "tests/conftest.py").open("a") as conftest:
        conftest.write('\nimport os\n\nos.environ["ASTERISK_ARI_URL"] = ""\n')
    done = pytest_in(project, "tests/test_next_line.py")
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout


REQUIRED = """REQUIRED = [
    "PRAXIS_API_URL",
    "FALLBACK_NUMBER",
    Needs("PRAXIS_API_KEY", if_set="PRAXIS_API_URL"),
    Needs("PRAXIS_LINE", transport="twilio"),
"""


def test_required_variables_have_values_in_tests(project: bots.Project) -> None:
    """Each one by itself. One that has none is named once a test, and in words about tests."""
    agent = project.server / "agent.py"
    source = editing.with_own_import(agent.read_text(), "from vbot import Needs")
    agent.write_text(editing.replaced(source, ("REQUIRED = [\n", REQUIRED)))
    one = ("vbot/testing/test_conversation.py", "-k", "greets")
    done = pytest_in(project, *one)
    assert done.returncode == 0, done.stdout

    bot = project.server / "bot.py"
    wrong = ("\nif __name__", "\nif not os.getenv('A'):\n    raise SystemExit('no A')\nif __name__")
    bot.write_text(editing.replaced(bot.read_text(), wrong))
    done = pytest_in(project, *one)
    assert done.returncode == 1 and "bot.py did not start:\nno A" in done.stdout, done.stdout
    assert len(done.stdout.splitlines()) < 15, done.stdout


SILENT = """
from datetime import date


async def silent(params):
    \"\"\"Say nothing.\"\"\"


async def dated(params):
    \"\"\"Say a date.\"\"\"
    await params.result_callback({"day": date(2030, 1, 1)})


"""
SILENT_TESTS = """import pytest


@pytest.mark.parametrize("name", ["silent", "dated"])
async def test_it(tester, script, name):
    script.when("Now.", "Done.", call=name)
    await tester.hears(script.greeting)
    await tester.speaks("Now.")
    await tester.hears("Done.")
"""


def test_a_tool_of_which_the_model_is_told_nothing_is_named(project: bots.Project) -> None:
    agent = project.server / "agent.py"
    agent.write_text(editing.above_tools(agent.read_text(), SILENT, "silent", "dated"))
    (project.server / "tests/test_days.py").write_text(SILENT_TESTS)
    done = pytest_in(project, "tests/test_days.py")
    assert done.returncode == 1 and "2 failed" in done.stdout, done.stdout
    assert re.search(r"The tool silent has not answered.*params\.result_callback", done.stdout)
    assert "The tool dated failed: its answer is no JSON: Object of type date" in done.stdout
    assert "This machine is busy" not in done.stdout, done.stdout


NOT_ASYNC = """
def opening_hours(params, day: str):
    \"\"\"Say when the practice is open.\"\"\"


"""


def test_what_is_wrong_in_agent_py_is_told_by_all_tests_and_by_the_start(
    project: bots.Project,
) -> None:
    """In a line for each mistake: a tool that is not async, an empty persona, a switch."""
    agent = project.server / "agent.py"
    source = editing.replaced(agent.read_text(), ("SAY_GREETING = False", 'SAY_GREETING = "nein"'))
    source = re.sub(r'(?s)(SYSTEM_INSTRUCTION = """).*?"""', r'\1\n"""', source)
    agent.write_text(editing.above_tools(source, NOT_ASYNC, "opening_hours"))
    wrong = [
        "SYSTEM_INSTRUCTION in agent.py is empty.",
        "SAY_GREETING in agent.py is 'nein': set True or False.",
        "opening_hours, in TOOLS of agent.py, is not async: write `async def opening_hours`.",
    ]
    done = pytest_in(project, "tests", "-k", "the_tool_books")  # which starts no bot
    assert done.returncode == 1 and "passed" not in done.stdout, done.stdout
    assert all(line in done.stdout for line in wrong), done.stdout
    for program in ("bot.py", "self_host.py"):
        started = without_network("timeout", "120", ".venv/bin/python", program, cwd=project.server)
        assert started.returncode == 1, started
        assert started.stderr.splitlines()[-4:-1] == wrong, started.stderr


def test_a_first_turn_that_no_model_says_is_named(project: bots.Project) -> None:
    """At once, and not after 30 seconds."""
    agent = project.server / "agent.py"
    agent.write_text(editing.replaced(agent.read_text(), ("GREETING = False", "GREETING = True")))
    done = pytest_in(project, "vbot/testing/test_evals.py")
    assert done.returncode == 1 and "which SAY_GREETING in agent.py turns off" in done.stdout


@pytest.mark.parametrize("name", ["user_turn_strategies", "user_mute_strategies"])
def test_recipes_for_turns_break_no_test(project: bots.Project, name: str) -> None:
    turns = functools.partial(recipes.turns, only=name)
    recipes.follow(project, "RECIPES.md", "Turns and interruptions", turns)
    done = pytest_in(project, "vbot/testing", "-k", "interrupts or during")
    assert done.returncode == 0, done.stdout
    assert ("skipped" in done.stdout) == (name == "user_mute_strategies"), done.stdout


def test_a_realtime_bot_takes_no_typed_text(vbot: Path) -> None:
    project = generated(vbot, "realtime")
    tests = project.server / "tests/test_typing.py"
    tests.write_text("async def test_it(tester):\n    await tester.types('Hello.')\n")
    project.sync("--group", "test")
    done = pytest_in(project, "tests/test_typing.py")
    assert done.returncode == 1, done.stdout
    assert "This bot's model takes no typed text: use `speaks`" in done.stdout, done.stdout


def test_a_greeting_is_said_word_for_word(project: bots.Project) -> None:
    """As AGENTS.md says: with SAY_GREETING, and without the first turn of the typed eval."""
    agent, evals = project.server / "agent.py", project.server / "evals/starter_text.yaml"
    words = ('"Greet the person and introduce yourself briefly."', '"You have called ACME."')
    switched = editing.replaced(agent.read_text(), words, ("GREETING = False", "GREETING = True"))
    agent.write_text(switched)
    text = evals.read_text()
    first, others = text.index("      # The bot speaks first"), text.index("      # What it writes")
    evals.write_text(text[:first] + text[others:])
    tests = project.server / "tests/test_agent.py"
    tests.write_text(
        tests.read_text() + "\n\nasync def test_fixed(tester, services, script):\n"
        '    await tester.hears("You have called ACME.")\n'
        '    assert services["llm"].requests == []\n'
        '    await tester.types("Hello.")\n'
        '    await tester.hears("You said: Hello.")\n'
        '    assert script.conversation[0] == ("assistant", "You have called ACME.")\n'
    )
    done = pytest_in(project)
    assert done.returncode == 0, done.stdout


def test_deleted_tests_stay_deleted(vbot: Path, tmp_path: Path) -> None:
    project = bots.generate(vbot, tmp_path / "p", "tested", *BOTS["web"], "--eval")
    (project.folder / ".github/workflows/test.yml").unlink()
    shutil.rmtree(project.server / "tests")
    bots.must(
        vbot, "init", ".", "--update", "--accept-missing", "--language", "de", cwd=project.folder
    )
    assert not (project.folder / ".github/workflows/test.yml").exists()
    assert not (project.server / "tests").exists()
