"""Runs the tests of monitor.py in lib/monitoring.py, with the framework."""

from pathlib import Path

import bots
from test_bots import CASCADE

TESTS = Path(__file__).parent / "lib" / "monitoring.py"


def test_the_monitor_misses_nothing_and_blames_nobody_else(vbot: Path) -> None:
    project = bots.installed(vbot, "monitor", "-t", "twilio", *CASCADE)
    env = bots.plain_env() | {"PYTHONPATH": str(project.server)}
    bots.must("uv", "run", "python", "-P", TESTS, cwd=project.server, env=env)
