"""What a project's Compose file tells an engine to start, started without one."""

import re
from typing import Any

import yaml
from dotenv import dotenv_values

import bots


def service(project: bots.Project, name: str) -> dict[str, Any]:
    """A service of deploy/compose.yaml, with what `--env-file server/.env` fills in."""
    env = dotenv_values(project.server / ".env")
    text = (project.folder / "deploy/compose.yaml").read_text()
    filled = re.sub(r"\$\{(\w+):-\}", lambda variable: env.get(variable[1]) or "", text)
    return yaml.safe_load(filled)["services"][name]
