"""A bot with every service, once a session."""

from pathlib import Path
from typing import Any

import pytest

import bots
import every_bot

pytest_plugins = ["checks"]


@pytest.fixture(scope="session")
def generated(vbot: Path, catalog: dict[str, Any]) -> dict[str, bots.Project]:
    """Bots with every service, by name."""
    arguments = every_bot.with_every_service(vbot, catalog)
    return every_bot.generate(vbot, arguments, bots.PROJECTS / "catalog")


@pytest.fixture(scope="session")
def python(vbot: Path, catalog: dict[str, Any], generated: dict[str, bots.Project]) -> Path:
    """The Python of an environment with what every service and every transport needs."""
    arguments = every_bot.with_every_option(vbot, catalog)
    others = every_bot.generate(vbot, arguments, bots.PROJECTS / "options")
    return every_bot.install([*generated.values(), *others.values()], "catalog")
