"""silence.py does what it says: see lib/silences.py."""

from pathlib import Path

import pytest

import bots
from test_bots import CASCADE

TESTS = Path(__file__).parent / "lib" / "silences.py"


BOTH = ("-t", "twilio", "-t", "smallwebrtc", *CASCADE)
REALTIME = ("-t", "twilio", "-m", "realtime", "--realtime", "gemini_live")


@pytest.mark.parametrize("options", [BOTH, REALTIME], ids=["cascade", "realtime"])
def test_only_the_silence_of_a_caller_counts(vbot: Path, options: tuple[str, ...]) -> None:
    project = bots.installed(vbot, f"silence{len(options)}", *options)
    env = bots.plain_env() | {"PYTHONPATH": f"{project.server}:{TESTS.parent}"}
    bots.must("uv", "run", "python", "-P", TESTS, cwd=project.server, env=env)
