"""Edited bots pass the linter and the type check after an update, and start.

The Go test TestMatrix makes them: each has all edits that its documents suggest, and then an update
with one changed option.
"""

import os
import random
import shutil
from pathlib import Path

import pytest

import bots
import every_bot

ROOT = Path(__file__).parent.parent
BOTS = bots.PROJECTS / "matrix"
STARTED = 24  # of them, chosen at random: a start takes seconds


@pytest.fixture(scope="module")
def edited() -> list[bots.Project]:
    shutil.rmtree(BOTS, ignore_errors=True)
    BOTS.mkdir(parents=True)
    env = os.environ | {"VBOT_MATRIX": str(BOTS)}
    test = ("go", "test", "-count=1", "-run", "^TestMatrix$", "-v", ".")
    assert "--- PASS: TestMatrix" in bots.must(*test, cwd=ROOT, env=env)
    (BOTS / "pyrightconfig.json").write_text("{}")
    made = [bots.Project(path, {}) for path in sorted(BOTS.iterdir()) if path.is_dir()]
    assert len(made) > 200
    return made


@pytest.fixture(scope="module")
def python(edited: list[bots.Project]) -> Path:
    return every_bot.install(edited, "matrix")


def test_they_pass_the_linter(python: Path, edited: list[bots.Project]) -> None:
    """Once it has sorted the imports, as AGENTS.md says."""
    servers = [project.server for project in edited]
    every_bot.ruff(python, "check", "--select", "I", "--fix", *servers)
    imports_a_tool = ("--extend-per-file-ignores", "test_agent.py:F401")  # and does not test it
    every_bot.ruff(python, "check", *imports_a_tool, *servers)


def test_they_pass_the_type_check(python: Path, edited: list[bots.Project]) -> None:
    sources = [project.server / name for project in edited for name in ("agent.py", "bot.py")]
    found = every_bot.type_errors(python, BOTS, sources)
    assert [line for path in sources for line in found[path]] == []


def test_they_start(python: Path, edited: list[bots.Project]) -> None:
    """Each names the keys that it lacks, which it can only do if all imports work."""
    for project in random.Random(0).sample(edited, STARTED):
        started = bots.run(python, "bot.py", cwd=project.server, env=bots.plain_env())
        said = started.stdout + started.stderr
        assert started.returncode != 0 and "CALENDAR_KEY" in said, f"{project.folder}: {said}"
