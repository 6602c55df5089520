"""The Python of the golden projects passes the linter and the type check.

One environment has the packages of all, and each tool runs once for all. e2e/services and
test_options.py check every service and option.
"""

from pathlib import Path

import pytest

import bots
import every_bot

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parent.parent
BOTS = bots.PROJECTS / "golden"


@pytest.fixture(scope="module")
def generated(vbot: Path) -> dict[str, bots.Project]:
    configurations = sorted((ROOT / "golden/bots").glob("*.json"))
    arguments = ((path.stem, ["--config", str(path)]) for path in configurations)
    made = every_bot.generate(vbot, arguments, BOTS)
    made["quickstart"] = bots.generate(vbot, BOTS / "quickstart", "quickstart")
    assert len(made) > 6
    return made


@pytest.fixture(scope="module")
def python(generated: dict[str, bots.Project]) -> Path:
    return every_bot.install(generated.values(), "golden")


def test_they_pass_the_linter(python: Path, generated: dict[str, bots.Project]) -> None:
    every_bot.lint(python, BOTS, every_bot.python_files(generated.values()))


def test_they_pass_the_type_check(python: Path, generated: dict[str, bots.Project]) -> None:
    sources = every_bot.python_files(generated.values())
    found = every_bot.type_errors(python, BOTS, sources)
    assert [line for path in sources for line in found[path]] == []
