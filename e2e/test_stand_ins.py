"""A bot with any service that has a stand-in passes its own tests without a network.

Services that speak one protocol differ in the addresses that they make of the one they are given,
so a conversation with each is enough; test_own_tests.py has all tests of several bots.
"""

import re
from pathlib import Path

import pytest

import bots
from own_tests import pytest_in

CATALOG = Path(__file__).parent.parent / "templates/services"
KINDS = ("stt", "llm", "tts", "realtime")
OTHERS = {"stt": "deepgram", "llm": "openai", "tts": "cartesia"}


def services() -> list[tuple[str, str]]:
    """The kinds and names of the services whose heads name a stand-in."""
    found: list[tuple[str, str]] = []
    for file in sorted(CATALOG.glob("*/*.py")):
        text = file.read_text()
        if file.parent.name in KINDS and "\n# stand-in: " in text:
            names = re.findall(r"(?m)^# names: (\w+)", text)
            found.append((file.parent.name, names[0]))
    return found


@pytest.mark.parametrize(("kind", "name"), services())
def test_a_bot_with(vbot: Path, kind: str, name: str) -> None:
    chosen = {kind: name} if kind == "realtime" else OTHERS | {kind: name}
    options = [word for k, n in chosen.items() for word in (f"--{k}", n)]
    mode = "realtime" if kind == "realtime" else "cascade"
    folder = bots.PROJECTS / f"stand-in-{kind}-{name}"
    project = bots.generate(
        vbot, folder, "stand-in", "-t", "smallwebrtc", "-m", mode, *options, "--eval"
    )
    project.sync("--group", "test")
    tests = "realtime" if kind == "realtime" else "conversation"
    done = pytest_in(project, f"vbot/testing/test_{tests}.py")
    assert done.returncode == 0, done.stdout
