"""Updates of a project over which its owner let loose what owners use: formatters, a search and
replace in all files, Git on Windows, Renovate.

Either all that the owner wrote is there after it, Python and TOML parse and no name is undefined,
or the update is refused and not a byte differs.
"""

import json
import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import bots
import own_tests

BOT = (
    "-t smallwebrtc -m cascade --stt deepgram --llm openai --tts cartesia --eval "
    "--client-framework react"
)
MINE = "Mila of Example Travel"

# File patterns of Renovate 41's managers: npm, pep621, dockerfile, docker-compose, kustomize,
# github-actions.
RENOVATE = (
    r"(^|/)package\.json$",
    r"(^|/)pyproject\.toml$",
    r"(^|/|\.)([Dd]ocker|[Cc]ontainer)file$",
    r"(^|/)(?:docker-)?compose[^/]*\.ya?ml$",
    r"(^|/)kustomization\.ya?ml$",
    r"(^|/)(workflow-templates|\.(?:github|gitea|forgejo)/(?:workflows|actions))/.+\.ya?ml$",
)


def files_of(folder: Path) -> list[Path]:
    listed = bots.must("git", "ls-files", cwd=folder, env=bots.plain_env())
    return [folder / name for name in listed.splitlines()]


def replace_everywhere(folder: Path, old: str, new: str) -> None:
    for file in files_of(folder):
        data = file.read_bytes()
        file.write_bytes(data.replace(old.encode(), new.encode()))


def search_and_replace(folder: Path) -> None:
    replace_everywhere(folder, "a friendly assistant", f"{MINE}, a friendly assistant")


def windows(folder: Path) -> None:
    """What Git with core.autocrlf makes of text; what .gitattributes calls binary is none."""
    for file in files_of(folder):
        relative = file.relative_to(folder)
        attribute = ("git", "check-attr", "binary", "--", str(relative))
        binary = bots.must(*attribute, cwd=folder, env=bots.plain_env())
        data = file.read_bytes()
        if not binary.strip().endswith(": set") and b"\0" not in data:
            file.write_bytes(data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))


def renovate(folder: Path) -> None:
    """A bump of each version in each manifest that Renovate finds."""
    for file in files_of(folder):
        relative = file.relative_to(folder).as_posix()
        if any(re.search(pattern, relative) for pattern in RENOVATE):
            assert not relative.startswith(".vbot"), relative
            bumped = re.sub(
                r"(\d+\.\d+\.)(\d+)", lambda m: f"{m[1]}{int(m[2]) + 1}", file.read_text()
            )
            file.write_text(bumped)


def tool(*command: str) -> Callable[[Path], None]:
    def run(folder: Path) -> None:
        bots.must(*command, cwd=folder, env=bots.networked_env())

    return run


BLACK = ("uvx", "black@25.1.0", "--quiet")
ISORT = ("uvx", "isort@6.0.1", "--quiet")
PRETTIER = ("npx", "--yes", "prettier@3.6.2", "--log-level", "error", "--write")
RUFF = ("uvx", "ruff@0.13.0", "format", "--quiet")
TOOLS = {
    "black": tool(*BLACK, "."),
    "black, at 120": tool(*BLACK, "--line-length", "120", "."),
    "isort": tool(*ISORT, "."),
    "isort, as black": tool(*ISORT, "--profile", "black", "."),
    "prettier": tool(*PRETTIER, "."),
    "prettier, as many use it": tool(*PRETTIER, "--single-quote", "--no-semi", "."),
    "ruff format, at 120": tool(*RUFF, "--line-length", "120", "."),
    "search and replace": search_and_replace,
    "line ends of Windows": windows,
    "Renovate": renovate,
}
NEEDS_NO_TOOL = ("search and replace", "line ends of Windows", "Renovate")
UPDATES = ("", "--recording --no-eval", "--self-host --tts elevenlabs -t daily")


def aged(project: bots.Project) -> None:
    """Make a project look as if an older vbot had written it, with another first line in log.py."""
    record_path = project.folder / ".vbot.json"
    record = json.loads(record_path.read_text())
    name = "server/vbot/log.py"
    old = b"# Of the version before.\n" + (project.folder / name).read_bytes()
    (project.folder / name).write_bytes(old)
    record["files"][name] = bots.add_base(project.folder, old)
    record["vbot"] = "0.0.9"
    record_path.write_text(json.dumps(record, indent=2) + "\n")


def owned(vbot: Path, folder: Path) -> bots.Project:
    """A project of an older vbot with edits of its owner, in Git."""
    project = bots.generate(vbot, folder, "travel", *BOT.split())
    aged(project)
    edits = {
        "server/agent.py": (
            "You are a friendly assistant",
            f"You are {MINE}, a friendly assistant",
        ),
        "server/bot.py": ("# Your own imports go below", f"# Your own imports go below, {MINE}"),
        "server/pyproject.toml": ("[project]", f"# {MINE}\n[project]"),
        "README.md": ("\n## ", f"\n{MINE}\n\n## "),
    }
    for name, edit in edits.items():
        file = project.folder / name
        text = file.read_text()
        assert edit[0] in text, name
        file.write_text(text.replace(*edit, 1))
    bots.must("git", "init", "--quiet", cwd=project.folder, env=bots.plain_env())
    bots.must("git", "add", "--all", cwd=project.folder, env=bots.plain_env())
    return project


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in bots.tree(folder)}


def with_edits(folder: Path) -> set[str]:
    return {
        name
        for name, data in contents(folder).items()
        if MINE.encode() in data and not name.startswith(".git/")
    }


def is_sound(folder: Path) -> None:
    """Everything parses, and no name is undefined."""
    for name, data in contents(folder).items():
        if name.endswith(".toml"):
            tomllib.loads(data.decode().replace("\r\n", "\n"))
        if name.endswith(".py"):
            compile(data, name, "exec")
        if name.endswith("package.json"):
            json.loads(data)
    python = ("--target-version", "py311")  # the lowest that a project may have
    ruff = ("uvx", "ruff@0.13.0", "check", "--isolated", *python, "--select", "E9,F", "--quiet")
    bots.must(*ruff, "server", cwd=folder, env=bots.networked_env())


@pytest.mark.parametrize("options", UPDATES, ids=lambda options: options or "the next version")
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.quick] if n in NEEDS_NO_TOOL else []) for n in TOOLS],
)
def test_an_update_keeps_what_was_written_or_changes_nothing(
    vbot: Path, tmp_path: Path, name: str, options: str
) -> None:
    project = owned(vbot, tmp_path)
    bases = {n: data for n, data in contents(project.folder).items() if n.startswith(".vbot/base/")}
    TOOLS[name](project.folder)
    before = contents(project.folder)
    assert {n: data for n, data in before.items() if n.startswith(".vbot/base/")} == bases
    edited = with_edits(project.folder)
    assert len(edited) >= 4
    line = [vbot, "init", project.folder, "--update", *options.split()]
    update = subprocess.run(line, capture_output=True, text=True, env=bots.plain_env(), check=False)
    if update.returncode != 0:
        assert update.returncode == 1 and "conflict" in update.stderr, update
        assert contents(project.folder) == before, update
        return
    assert edited <= with_edits(project.folder), update
    is_sound(project.folder)


@pytest.mark.parametrize("name", ["black", "search and replace"])
def test_the_tests_of_the_project_pass_after_it(vbot: Path, name: str) -> None:
    folder = bots.PROJECTS / "tools"
    project = owned(vbot, folder)
    TOOLS[name](project.folder)
    line = (vbot, "init", project.folder, "--update", "--recording", "--conflict-markers")
    update = bots.run(*line, cwd=folder, env=bots.plain_env())
    for file in (n for n in bots.tree(project.folder) if n.endswith((".py", ".toml"))):
        path = project.folder / file  # the owner takes their own text, wherever both changed
        ours = re.compile(r"^<<<<<<< yours\n(.*?)^=======\n.*?^>>>>>>> vbot [^\n]*\n", re.M | re.S)
        path.write_text(ours.sub(r"\1", path.read_text()))
    assert update.returncode in (0, 1), update
    project.sync("--group", "test")
    own = own_tests.pytest_in(project)
    assert own.returncode == 0, own
