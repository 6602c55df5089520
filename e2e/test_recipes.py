"""Every Python example in a bot's documents works in the bots that it is for.

The documents of BOTS have every text that the templates can produce. Each example is put into a
copy of a bot's files, as the document says, and the linter and the type check read the result.
RECIPES names the tests that check what an example does.
"""

import ast
import contextlib
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import bots
import editing
import every_bot
import recipes
from editing import Section
from every_bot import CASCADE, REALTIME

ROOT = Path(__file__).parent.parent
MADE = bots.PROJECTS / "recipes"
CLIENT = ("--client-framework", "react")
OWN = ("-m", "cascade", "--stt", "moonshine", "--llm", "ollama", "--tts", "piper")
OPTIONS = ("--recording", "--transcription", "--observability", "--eval", "--language", "de")
BOTS = {
    "plain": ("-t", "smallwebrtc", *CASCADE),
    "web": ("-t", "smallwebrtc", *CASCADE, *CLIENT, *OPTIONS, "--self-host"),
    "look": ("-t", "smallwebrtc", *CASCADE, "--video-input", "--client-framework", "vanilla"),
    "own": ("-t", "websocket", *OWN),
    "room": ("-t", "livekit", "-m", "realtime", "--realtime", "gemini_live", *OPTIONS[:2]),
    "phones": ("-t", "twilio", "-t", "telnyx", "-t", "plivo", "-t", "exotel", *CASCADE, "--eval"),
    "phones_page": ("-t", "twilio", "-t", "plivo", "-t", "smallwebrtc", *REALTIME, "--self-host"),
    "pbx": ("-t", "asterisk", *CASCADE, "--self-host"),
    "pstn_in": ("-t", "daily_pstn_dialin", *CASCADE),
    "pstn_in_more": ("-t", "daily_pstn_dialin", "-t", "twilio", "-t", "smallwebrtc", *REALTIME),
    "pstn_out": ("-t", "daily_pstn_dialout", *CASCADE, "--recording"),
    "pstn_out_page": ("-t", "daily_pstn_dialout", "-t", "smallwebrtc", *REALTIME),
    "sip_in": ("-t", "twilio_daily_sip_dialin", *CASCADE, "--self-host"),
    "sip_in_page": ("-t", "twilio_daily_sip_dialin", "-t", "smallwebrtc", *REALTIME),
    "sip_out": ("-t", "twilio_daily_sip_dialout", *CASCADE),
    "sip_out_more": ("-t", "twilio_daily_sip_dialout", "-t", "twilio", *REALTIME),
}

Key = tuple[str, str]  # a document, and the title above the example


@dataclass(frozen=True)
class Recipe:
    """How an example gets into a bot, and which tests run a bot that has it."""

    apply: recipes.Recipe
    run_by: tuple[str, ...]
    after: Key | None = None  # what it changes
    only: str = ""  # in bots whose bot.py has this code


TOOLS: Key = ("README.md", "Tools")
A_TOOL = "test_readme.py::test_the_model_calls_the_tool"
PATIENT = "test_patience.py::test_healthy_bots_are_left_alone"
LONG = "test_readme.py::test_a_long_conversation_is_summarized"
KEYS = "test_phone_keys.py::test_keys_are_pressed"

# Examples that belong into another file, and the test that runs them.
ELSEWHERE: dict[Key, str] = {
    ("RECIPES.md", "A judge with your OpenAI key"): (
        "test_own_tests.py::test_a_judge_uses_the_key_of_the_owner"
    ),
    ("RECIPES.md", "The test of a transfer"): "test_own_tests.py::test_callers_are_put_through",
}

# What applies the examples under a title, and the tests of what they do.
RECIPES: dict[Key, Recipe] = {
    ("AGENTS.md", "Settings"): Recipe(
        recipes.variables,
        ("test_readme.py::test_a_bot_names_the_settings_that_it_lacks",),
    ),
    ("RECIPES.md", "A tool that calls your own HTTP API"): Recipe(
        recipes.tool, ("test_own_tests.py::test_callers_book_at_an_api_of_the_owner",)
    ),
    ("RECIPES.md", "Give a slow service more time"): Recipe(
        recipes.more_time, (PATIENT,), only='vbot.Service("OpenAI", '
    ),
    ("RECIPES.md", "Let another service take over"): Recipe(
        recipes.second_services,
        ("test_failover.py::test_another_service_takes_over", PATIENT),
        only="    tts = ",
    ),
    ("RECIPES.md", "Mute the person"): Recipe(recipes.mute, (PATIENT,)),
    ("RECIPES.md", "Keys that the caller presses"): Recipe(recipes.callers_keys, (KEYS,)),
    ("RECIPES.md", "Keys that the bot presses"): Recipe(recipes.tool, (KEYS,)),
    ("RECIPES.md", "Turns and interruptions"): Recipe(
        recipes.turns,
        (
            "test_readme.py::test_turns_and_interruptions_change",
            "test_readme.py::test_a_realtime_model_is_patient_and_not_interrupted",
        ),
    ),
    ("RECIPES.md", "Tell a person that a service has failed"): Recipe(
        recipes.alerts, ("test_own_tests.py::test_a_person_is_told_that_a_service_has_failed",)
    ),
    ("RECIPES.md", "Steps of a conversation"): Recipe(
        recipes.steps, ("test_readme.py::test_the_model_goes_through_steps",), only="    tts = "
    ),
    ("RECIPES.md", "Speech detection"): Recipe(
        recipes.speech_detection, (LONG,), only="SileroVADAnalyzer()"
    ),
    ("RECIPES.md", "Long conversations"): Recipe(recipes.long_conversations, (LONG,)),
    ("RECIPES.md", "Slow tools"): Recipe(
        recipes.slow_tool,
        ("test_readme.py::test_the_conversation_goes_on_beside_a_slow_tool",),
    ),
    ("RECIPES.md", "MCP tools"): Recipe(
        recipes.mcp_tools, ("test_readme.py::test_the_model_calls_a_tool_of_a_server",)
    ),
    TOOLS: Recipe(recipes.tool, (A_TOOL,)),
    ("client/README.md", "A message of your own"): Recipe(recipes.message, (A_TOOL,), after=TOOLS),
    ("README.md", "Turns and interruptions"): Recipe(
        recipes.service_turns,
        ("test_readme.py::test_a_realtime_model_is_patient_and_not_interrupted",),
    ),
    ("RECIPES.md", "What the model is told about a session"): Recipe(
        recipes.values, ("test_phones.py::test_the_model_knows_who_calls",)
    ),
    ("DEPLOY.md", "Handing a call to a person"): Recipe(
        recipes.hand_over,
        (
            "test_handing_over.py::test_a_call_over_twilio_outlives_the_bot",
            "test_handing_over.py::test_a_call_over_daily_outlives_the_bot",
            "test_handing_over.py::test_a_call_over_sip_outlives_its_room",
        ),
    ),
    ("RECIPES.md", "A colleague in the room"): Recipe(
        recipes.shared_room, ("test_handing_over.py::test_the_bot_leaves_a_room_to_others",)
    ),
}

# Code between backquotes that says what is there, and is not to be put anywhere.
NAMED = {
    ("AGENTS.md", "bot(runner_args)"): "what must stay",
    ("AGENTS.md", 'Needs("NAME", in_tests="VALUE")'): "of tests",
    ("AGENTS.md", 'os.environ["NAME"] = "VALUE"'): "of tests",
    ("AGENTS.md", "script.when(SAID, ANSWER, call=TOOL, arguments={...})"): "of tests",
    ("AGENTS.md", 'services["llm"].fail(401)'): "of tests",
    ("AGENTS.md", 'clock.set("2030-12-23 10:00")'): "of tests",
    ("AGENTS.md", '["dial +15551234567"]'): "of tests",
    ("AGENTS.md", "params.result_callback"): "what tools have",
    ("AGENTS.md", "now()"): "what there is",
    ("AGENTS.md", "vbot.facts"): "a module",
    ("RECIPES.md", "await runner.run()"): "a place",
    ("RECIPES.md", "await asyncio.to_thread(...)"): "what there is",
    ("RECIPES.md", "vbot.hang_up"): "what telephone bots have",
    ("DEPLOY.md", 'TransferFrame(number, caller_id="+15557654321")'): "another form of the example",
    ("DEPLOY.md", 'client["id"]'): "what there is",
    ("DEPLOY.md", "[from-internal-custom]"): "of Asterisk's files",
    ("DEPLOY.md", "[general]"): "of Asterisk's files",
    ("DEPLOY.md", "c(alaw)"): "of Asterisk's files",
    ("DEPLOY.md", "c(slin)"): "of Asterisk's files",
    ("DEPLOY.md", "c(slin16)"): "of Asterisk's files",
    ("DEPLOY.md", "c(ulaw)"): "of Asterisk's files",
}


def of_services(kind: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Bots whose README.md says how the service is made to wait longer."""
    for path in every_bot.with_code(kind):
        text = path.read_text()
        if "\n# turns: " in text:
            [name] = re.findall(r"(?m)^# id: (\w+)$", text)
            services = REALTIME if kind == "realtime" else CASCADE
            yield name, ("-t", "smallwebrtc", *services, f"--{kind}", name)


def generate(vbot: Path) -> dict[str, bots.Project]:
    many = BOTS | dict(of_services("realtime")) | dict(of_services("stt"))
    return every_bot.generate(vbot, ((name, list(args)) for name, args in many.items()), MADE)


@pytest.fixture(scope="module")
def made(vbot: Path) -> dict[str, bots.Project]:
    return generate(vbot)


CODE = (ast.Call, ast.Subscript, ast.Await, ast.List, ast.ImportFrom)
DOTTED = re.compile(r"(\w+\.)+(?!py$|md$|yaml$)\w+")


def names_in(source: str) -> set[str]:
    """The names with which code about a file can begin: variables, parameters, modules."""
    nodes = list(ast.walk(ast.parse(source)))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    modules = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return names | {module.partition(".")[0] for module in modules}


def is_code(span: str, names: set[str]) -> bool:
    """Whether a text between backquotes is Python for a file, not a name, a path or a command."""
    for form in (span, f"{span}\ndef function(): ..."):  # a decorator
        try:
            tree = ast.parse(form)
        except SyntaxError:
            continue
        if any(isinstance(node, CODE) for node in ast.walk(tree)):
            return True
        return bool(DOTTED.fullmatch(span)) and span.partition(".")[0] in names
    return False


def squeezed(code: str) -> str:
    return re.sub(r"\s", "", code)


def has(source: str, example: str) -> bool:
    """Whether the code has all of the example but its comments; `...` stands for anything.

    The arguments of a call may be among others.
    """
    lines = [line for line in example.splitlines() if not line.lstrip().startswith("#")]
    with contextlib.suppress(SyntaxError):
        match ast.parse(example, mode="eval").body:
            case ast.Call(keywords=[_, *_] as keywords):
                lines = [ast.unparse(keyword) for keyword in keywords]
                source = ast.unparse(ast.parse(source))
            case _:
                pass
    patterns = (re.escape(squeezed(line)).replace(r"\.\.\.", ".*") for line in lines)
    return all(re.search(pattern, squeezed(source)) for pattern in patterns)


def examples(key: Key, section: Section, names: set[str]) -> list[str]:
    """The blocks and the code within the text."""
    document, _ = key
    spans = dict.fromkeys(span for span in section.spans if is_code(span, names))
    return section.blocks + [span for span in spans if (document, span) not in NAMED]


def edited(project: bots.Project, missing: set[str]) -> Iterator[tuple[Key, recipes.Files]]:
    """The files that each example of the bot's documents changes; and what no recipe applies."""
    files, sections = recipes.read(project), editing.documents(project.folder)
    names = set().union(*map(names_in, files.values()))
    for key, section in sections.items():
        if key in ELSEWHERE or not (found := examples(key, section, names)):
            continue
        recipe = RECIPES.get(key)
        if recipe and recipe.only not in files["bot.py"]:
            continue
        after: recipes.Files = {}
        if recipe:
            before = files
            if recipe.after:
                before = RECIPES[recipe.after].apply(files, sections[recipe.after])
            with contextlib.suppress(ValueError):  # more or fewer examples than it knows
                changed = recipe.apply(before, section)
                after = {name: text for name, text in changed.items() if text != files.get(name)}
                yield key, after
        for example in found:
            if not any(has(text, example) for text in after.values()):
                begins = example.strip().splitlines()[0]
                where = " under ".join(repr(part) for part in key)
                missing.add(
                    f"no test applies the block that begins {begins!r}, in {where}: see RECIPES"
                )


@pytest.mark.quick
def test_every_example_is_applied(made: dict[str, bots.Project]) -> None:
    applied: set[Key] = set()
    missing: set[str] = set()
    for project in made.values():
        for key, after in edited(project, missing):
            for name, text in after.items():
                compile(text, name, "exec")
            applied.add(key)
    assert not missing, "\n".join(sorted(missing))
    assert applied == RECIPES.keys()


def template(document: str) -> str:
    """The template of the document, without the ends of blocks that begin on the same line."""
    paths = {"AGENTS.md": "guide/AGENTS.md", "client/README.md": "client/shared/README.md"}
    return (ROOT / "templates" / f"{paths.get(document, document)}.tmpl").read_text()


@pytest.mark.quick
def test_the_bots_show_all_that_the_templates_can_say(made: dict[str, bots.Project]) -> None:
    """Every part of a line of code, and all code within text."""
    shown: dict[str, list[str]] = {document: [] for document in editing.DOCUMENTS}
    names: set[str] = set()
    for project in made.values():
        names = names.union(*map(names_in, recipes.read(project).values()))
        for (document, _), section in editing.documents(project.folder).items():
            shown[document] += map(squeezed, section.blocks + section.spans)
    for document, span in NAMED:
        assert squeezed(span) in shown[document], f"{document} does not name {span}"
    for document, examples in shown.items():
        all_shown, tag = "\n".join(examples), r"<%.*?%>"
        code = (line for block in editing.blocks(template(document)) for line in block.splitlines())
        parts = [part for line in code for part in re.split(tag, line)]
        found = editing.sections(template(document)).values()
        spans = [span for section in found for span in section.spans if is_code(span, names)]
        for part in parts + [part for span in spans for part in re.split(tag, span)]:
            assert squeezed(part) in all_shown, f"no bot has {part!r} in its {document}"


@pytest.mark.quick
def test_examples_that_run_elsewhere_exist() -> None:
    assert all(recipe.run_by for recipe in RECIPES.values())
    tests = [test for recipe in RECIPES.values() for test in recipe.run_by]
    for file, name in (test.split("::") for test in (*tests, *ELSEWHERE.values())):
        text = (Path(__file__).parent / file).read_text()
        assert f"\ndef {name}(" in text, f"{file} has no {name}"


ARGUMENTS: Key = ("RECIPES.md", "Turns and interruptions")  # a block that goes into a line


@pytest.fixture(scope="module")
def written(made: dict[str, bots.Project]) -> dict[Path, bool]:
    """Beside the files of each bot, those with one of its examples, and what that adds.

    And whether the example is whole lines, which need no formatting.
    """
    files: dict[Path, bool] = {}
    for project in made.values():
        sections = editing.documents(project.folder)
        for key, after in edited(project, set()):
            example = re.sub(r"\W+", "_", " ".join(key)).lower()
            for name, text in after.items():
                is_new = name not in recipes.EDITED
                path = project.server / (name if is_new else f"recipe_{example}.py")
                path.write_text(text)
                files[path] = bool(sections[key].blocks) and key != ARGUMENTS
    return files


@pytest.fixture(scope="module")
def python(made: dict[str, bots.Project]) -> Path:
    """With the packages that the documents say to add."""
    projects = made.values()
    sections = [s for project in projects for s in editing.documents(project.folder).values()]
    added = {name for section in sections for name in recipes.added_packages(section)}
    return every_bot.install(made.values(), "recipes", *sorted(added))


def alone(block: str) -> str:
    """The block, with a function around code that must be in one."""
    imports, code = editing.parted(block)
    depth = (len(code) - len(code.lstrip(" "))) // 4
    heads = (f"{'    ' * level}async def place_{level}():\n" for level in range(depth))
    return "".join([imports.rstrip(), "\n\n\n" if imports else "", *heads, code])


def test_the_blocks_are_formatted(python: Path, made: dict[str, bots.Project]) -> None:
    """But for arguments and entries of a list, which stand in brackets there."""
    folder = MADE / "blocks"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "pyproject.toml").write_text("[tool.ruff]\nline-length = 100\n")
    sections = [s for p in made.values() for s in editing.documents(p.folder).values()]
    blocks = dict.fromkeys(block for section in sections for block in section.blocks)
    assert len(blocks) >= 14
    for number, code in enumerate(map(alone, blocks)):
        nodes = list(ast.walk(ast.parse(code)))
        values = [n.value for n in nodes if isinstance(n, ast.Assign | ast.Expr)]
        if not any(isinstance(value, ast.Tuple) for value in values):
            (folder / f"block_{number}.py").write_text(code)
    every_bot.ruff(python, "format", "--diff", folder)


def test_blocks_pass_the_linter_as_they_are_pasted(python: Path, written: dict[Path, bool]) -> None:
    """Nothing sorts their imports, and nothing formats them."""
    pasted = [path for path, is_whole in written.items() if is_whole]
    assert len(pasted) > 60
    every_bot.ruff(python, "check", *pasted)
    every_bot.ruff(python, "format", "--check", *pasted)


def test_arguments_pass_the_linter(python: Path, written: dict[Path, bool]) -> None:
    """Once it has wrapped their lines and sorted their imports, as RECIPES.md says."""
    others = [path for path, is_whole in written.items() if not is_whole]
    every_bot.ruff(python, "check", "--fix", "--exit-zero", *others)
    every_bot.ruff(python, "format", *others)
    every_bot.ruff(python, "check", *others)


@pytest.mark.parametrize("name", ["plain", "phones", "phones_page", "pstn_in_more"])
def test_all_tools_together_pass_the_linter(
    python: Path, made: dict[str, bots.Project], name: str
) -> None:
    """Pasted one after the other into one project."""
    project = bots.Project(MADE / "together" / name, {})
    shutil.rmtree(project.folder, ignore_errors=True)
    shutil.copytree(made[name].folder, project.folder)
    for file in project.server.glob("recipe_*.py"):
        file.unlink()
    files, pasted = recipes.read(made[name]), 0
    for key, section in editing.documents(project.folder).items():
        if key in RECIPES and RECIPES[key].apply is recipes.tool and section.blocks:
            files = recipes.tool(files, section)
            pasted += 1
    recipes.write(project, files)
    assert pasted > 2
    every_bot.ruff(python, "check", project.server)
    every_bot.ruff(python, "format", "--check", project.server)


def test_they_pass_the_type_check(python: Path, written: dict[Path, bool]) -> None:
    found = every_bot.type_errors(python, MADE, list(written))
    wrong = [line for path in written for line in found[path]]
    assert not wrong, "\n".join(wrong)
