"""sessions.py keeps to its capacity, where the framework is: see lib/limited.py."""

from pathlib import Path

import bots
from test_bots import CASCADE

TESTS = Path(__file__).parent / "lib" / "limited.py"


def test_sessions_are_limited_and_counted(vbot: Path) -> None:
    project = bots.installed(vbot, "capacity", "-t", "twilio", *CASCADE, "--self-host")
    env = bots.plain_env() | {"PYTHONPATH": str(project.server)}
    bots.must("uv", "run", "python", "-P", TESTS, cwd=project.server, env=env)
