"""Bots with each transport and option, alone and with all others, are correct Python.

One environment has the packages of all, and each tool runs once for all. The services are those of
the quickstart; e2e/services checks the others.
"""

import re
from pathlib import Path
from typing import Any

import pytest

import bots
import every_bot

BOTS = bots.PROJECTS / "options"


@pytest.fixture(scope="module")
def generated(vbot: Path, catalog: dict[str, Any]) -> dict[str, bots.Project]:
    return every_bot.generate(vbot, every_bot.with_every_option(vbot, catalog), BOTS)


@pytest.fixture(scope="module")
def python(generated: dict[str, bots.Project]) -> Path:
    return every_bot.install(generated.values(), "options")


def test_every_transport_is_in_a_bot(generated: dict[str, bots.Project]) -> None:
    """The class of each transport in the catalog is in the code of a bot."""
    code = [(project.server / "bot.py").read_text() for project in generated.values()]
    words = {word for text in code for word in re.findall(r"\w+", text)}
    keys = {key for text in code for key in re.findall(r'"(\w+)": lambda:', text)}
    files = [path.read_text() for path in every_bot.with_code("transports")]
    assert len(files) > 10
    for text in files:
        returned = re.search(r"-> (\w+):", text)
        assert returned and returned[1] in words, text
        if key := re.search(r"(?m)^# key: (\w+)$", text):
            assert key[1] in keys, text
    servers = [project.server / "webhooks.py" for project in generated.values()]
    texts = [path.read_text() for path in servers if path.exists()]
    taken = {name for text in texts for name in re.findall(r"\b(dialout|twilio)\b", text)}
    assert taken == {"dialout", "twilio"}


def test_every_bot_passes_the_linter(python: Path, generated: dict[str, bots.Project]) -> None:
    every_bot.lint(python, BOTS, every_bot.python_files(generated.values()))


def test_every_bot_has_what_its_package_imports(generated: dict[str, bots.Project]) -> None:
    assert every_bot.absent_modules(generated.values()) == []


def test_every_bot_passes_the_type_check(python: Path, generated: dict[str, bots.Project]) -> None:
    sources = every_bot.made_files(generated.values())
    found = every_bot.type_errors(python, BOTS, sources)
    assert [line for path in sources for line in found[path]] == []
