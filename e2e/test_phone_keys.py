"""Keys that a caller presses reach the model, and the bot can press keys, as RECIPES.md says.

lib/own_keys.py has the test, which runs in a project, against its own stand-ins.
"""

import shutil
from pathlib import Path

import bots
import own_tests
import recipes

TESTS = Path(__file__).parent / "lib" / "own_keys.py"
CARRIERS = ("-t", "twilio", "-t", "telnyx", "-t", "plivo", "-t", "exotel", "-t", "asterisk")
CASCADE = ("-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia")


def test_keys_are_pressed(vbot: Path) -> None:
    folder = bots.PROJECTS / "phone-keys"
    project = bots.generate(vbot, folder, "phone-keys", *CARRIERS, *CASCADE, "--eval")
    project.sync("--group", "test")
    for title, recipe in (
        ("Keys that the caller presses", recipes.callers_keys),
        ("Keys that the bot presses", recipes.tool),
    ):
        recipes.follow(project, "RECIPES.md", title, recipe)
    shutil.copy(TESTS, project.server / "tests/test_keys.py")
    done = own_tests.pytest_in(project, "tests/test_keys.py")
    assert done.returncode == 0 and "5 passed" in done.stdout, done.stdout
