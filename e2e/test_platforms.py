"""What README.md says of Macs is what the package index has packages for."""

import re

import pytest

import bots


def resolve(project: bots.Project, processor: str, macos: str) -> tuple[bool, str]:
    """Whether the bot's packages can be installed on such a Mac, and what uv says."""
    command = ("uv", "pip", "compile", "--quiet", "--no-annotate", "--python-version", "3.12")
    command += ("--python-platform", f"{processor}-apple-darwin", "pyproject.toml")
    env = bots.networked_env() | {"MACOSX_DEPLOYMENT_TARGET": macos}
    done = bots.run(*command, cwd=project.server, env=env)
    return done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def needed(quickstart: bots.Project) -> int:
    """The version of macOS that the project's README.md asks for, on Apple silicon."""
    said = re.search(
        r"A Mac needs\sApple silicon and macOS (\d+) or later\.",
        (quickstart.folder / "README.md").read_text(),
    )
    assert said
    return int(said[1])


def test_a_mac_with_apple_silicon_can_install_a_bot(quickstart: bots.Project, needed: int) -> None:
    resolved, said = resolve(quickstart, "aarch64", f"{needed}.0")
    assert resolved and "\npipecat-ai==" in said, said
    resolved, said = resolve(quickstart, "aarch64", f"{needed - 1}.9")
    assert not resolved and "onnxruntime" in said, said


def test_a_mac_of_intel_cannot(quickstart: bots.Project, needed: int) -> None:
    """Whatever its system. If it can one day, README.md need not exclude it any more."""
    resolved, said = resolve(quickstart, "x86_64", f"{needed + 20}.0")
    assert not resolved and "onnxruntime" in said, said
