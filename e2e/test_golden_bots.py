"""The Python of the golden projects passes the linter and the type check.

One environment has the packages of all, and each tool runs once for all. test_package.py checks the
package vbot, e2e/services and test_options.py every service and option.
"""

from pathlib import Path

import pytest

import bots
import every_bot
import licenses

pytestmark = pytest.mark.quick


def test_they_pass_the_linter(golden_python: Path, golden_bots: dict[str, bots.Project]) -> None:
    sources = every_bot.python_files(golden_bots.values())
    every_bot.lint(golden_python, every_bot.GOLDEN, sources)


def test_they_pass_the_type_check(
    golden_python: Path, golden_bots: dict[str, bots.Project]
) -> None:
    sources = every_bot.made_files(golden_bots.values())
    found = every_bot.type_errors(golden_python, every_bot.GOLDEN, sources)
    assert [line for path in sources for line in found[path]] == []


def test_they_have_what_their_package_imports(golden_bots: dict[str, bots.Project]) -> None:
    assert every_bot.absent_modules(golden_bots.values()) == []


def test_their_licenses_are_those_of_their_packages(
    golden_python: Path, golden_bots: dict[str, bots.Project]
) -> None:
    packages = licenses.installed(golden_python)
    wrong = {name: licenses.wrong(bot, packages) for name, bot in golden_bots.items()}
    assert {name: found for name, found in wrong.items() if found} == {}
