"""door.py gives out places and takes them back, where the framework is: see lib/doors.py."""

from pathlib import Path

import bots
from test_bots import CASCADE

TESTS = Path(__file__).parent / "lib" / "doors.py"


def test_the_door_counts_sessions(vbot: Path) -> None:
    project = bots.installed(vbot, "door", "-t", "twilio", *CASCADE, "--self-host")
    env = bots.plain_env() | {"PYTHONPATH": str(project.server)}
    bots.must("uv", "run", "python", "-P", TESTS, cwd=project.server, env=env)
