"""Start the services of a project's Compose file without a container engine."""

import re
from typing import Any

import yaml
from dotenv import dotenv_values

import bots


def service(project: bots.Project, name: str) -> dict[str, Any]:
    """A service of deploy/compose.yaml, with what `--env-file server/.env` fills in."""
    env = dotenv_values(project.server / ".env")
    text = (project.folder / "deploy/compose.yaml").read_text()
    text = re.sub(r"\$\{(\w+):\+([^}]*)\}", lambda v: v[2] if env.get(v[1]) else "", text)
    filled = re.sub(r"\$\{(\w+):-([^}]*)\}", lambda v: env.get(v[1]) or v[2], text)
    compose = yaml.safe_load(filled)
    service = compose["services"][name]
    for config in service.get("configs", []):
        place = project.folder / config["target"].lstrip("/")
        place.write_text(compose["configs"][config["source"]]["content"])
        service["command"] = [
            str(place) if part == config["target"] else part for part in service["command"]
        ]
    return service
