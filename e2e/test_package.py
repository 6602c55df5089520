"""The package vbot, of which each project has a copy, passes unit tests, linter and type check.

Its sources are templates/server/vbot and templates/unit. The type check runs in a project that has
all of its files, where it finds bot.py, agent.py and the others that it imports.
"""

import json
import re
import shutil
from pathlib import Path

import pytest

import bots
import every_bot
from every_bot import PACKAGE

pytestmark = pytest.mark.quick

TEMPLATES = PACKAGE.parent.parent
UNIT = TEMPLATES / "unit"
# Modules of libraries that bring PyTorch, which is not installed here.
HEAVY = re.compile(r"\b(funasr|pocket_tts)\b")


def test_projects_have_its_files_as_they_are(golden_bots: dict[str, bots.Project]) -> None:
    """Together the projects have nearly all, and no other."""
    found: set[Path] = set()
    for project in golden_bots.values():
        package = project.server / "vbot"
        for path in package.rglob("*.py"):
            assert path.read_bytes() == (PACKAGE / path.relative_to(package)).read_bytes()
            found.add(path.relative_to(package))
    assert len(found) > 40


def test_it_passes_its_unit_tests(golden_python: Path) -> None:
    """With the packages of all bots; `uv run --project templates/unit` has those of every bot."""
    command = (
        golden_python,
        "-B",
        "-m",
        "pytest",
        "-q",
        "-rs",
        "-c",
        UNIT / "pyproject.toml",
        UNIT,
    )
    done = bots.run(*command, cwd=UNIT, env=bots.plain_env())
    assert done.returncode == 0, done.stdout + done.stderr
    skipped = re.findall(r"^SKIPPED .*", done.stdout, re.MULTILINE)
    assert [line for line in skipped if not HEAVY.search(line)] == []


def test_it_passes_the_linter(golden_python: Path) -> None:
    config = ("--config", UNIT / "pyproject.toml")
    every_bot.ruff(golden_python, "check", *config, PACKAGE, UNIT)
    every_bot.ruff(golden_python, "format", "--check", *config, PACKAGE, UNIT)


def test_it_passes_the_type_check(golden_python: Path, vbot: Path) -> None:
    config = every_bot.HERE.parent / "golden/bots/every-feature.json"
    folder = bots.PROJECTS / "package"
    project = bots.generate(vbot, folder, "package", "--config", str(config))
    shutil.copytree(PACKAGE, project.server / "vbot", dirs_exist_ok=True)
    shutil.copytree(UNIT, project.server / "unit", ignore=shutil.ignore_patterns(".venv"))
    paths = {"include": ["vbot", "unit"], "extraPaths": ["tests", "unit"]}
    (project.server / "pyrightconfig.json").write_text(json.dumps(paths))
    files = [*(project.server / "vbot").rglob("*.py"), *(project.server / "unit").rglob("*.py")]
    found = every_bot.type_errors(golden_python, project.server, files)
    errors = [line for path in files for line in found[path]]
    assert [line for line in errors if not HEAVY.search(line)] == []
