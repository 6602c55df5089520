"""Another service takes over from one that fails, as RECIPES.md says.

lib/own_failover.py has the tests, which run in a project, against its own stand-ins.
"""

import re
import shutil
from pathlib import Path

import pytest

import bots
import editing
import own_tests
import recipes

TESTS = Path(__file__).parent / "lib" / "own_failover.py"
CASCADE = ("-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia")
# Where the second services are, which are made as the first ones are.
OTHER_ADDRESSES = {
    "stt": (r"base_url=.*", 'base_url=os.environ["BACKUP_STT"],'),
    "llm": (r"api_key=.*", r'\g<0>\n        base_url=os.environ["BACKUP_LLM"],'),
    "tts": (r"url=.*", 'url=os.environ["BACKUP_TTS"],'),
}


@pytest.fixture(scope="module")
def project(vbot: Path) -> bots.Project:
    folder = bots.PROJECTS / "failover"
    project = bots.generate(vbot, folder, "failover", "-t", "smallwebrtc", *CASCADE, "--eval")
    project.sync("--group", "test")
    recipes.follow(project, "RECIPES.md", "Let another service take over", recipes.second_services)
    bot = project.server / "bot.py"
    source = bot.read_text()
    for kind, (pattern, by) in OTHER_ADDRESSES.items():
        second = editing.text_of(source, editing.statement(source, f"second_{kind}"))
        moved, count = re.subn(pattern, by, second)
        assert count == 1
        source = editing.replaced(source, (second, moved))
    bot.write_text(source)
    shutil.copy(TESTS, project.server / "tests/test_failover.py")
    return project


@pytest.mark.parametrize("kind", ["stt", "llm", "tts"])
def test_another_service_takes_over(
    project: bots.Project, kind: str, tmp_path: Path, figures: list[str]
) -> None:
    """The first service fails at its start, is missing, hangs or breaks off; or all fail."""
    seconds = tmp_path / "figures"
    done = own_tests.pytest_in(
        project, "tests/test_failover.py", "-k", kind, timeout=300, FIGURES=str(seconds)
    )
    assert done.returncode == 0, done.stdout
    figures += seconds.read_text().splitlines()
