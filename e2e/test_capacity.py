"""Runs the tests of the capacity of sessions.py in lib/limited.py, with the framework."""

from pathlib import Path

import bots
from test_bots import CASCADE

TESTS = Path(__file__).parent / "lib" / "limited.py"


def test_sessions_are_limited_and_counted(vbot: Path) -> None:
    project = bots.installed(vbot, "capacity", "-t", "twilio", *CASCADE, "--self-host")
    env = bots.plain_env() | {"PYTHONPATH": str(project.server)}
    bots.must("uv", "run", "python", "-P", TESTS, cwd=project.server, env=env)
