"""The package index has packages for a bot's platforms. Nothing is installed."""

import re
from pathlib import Path

import pytest

import bots

ARM, INTEL = "aarch64-apple-darwin", "x86_64-apple-darwin"


def resolve(project: bots.Project, platform: str, macos: str = "14.0") -> tuple[bool, str]:
    """Whether the bot's packages can be installed on such a machine, and what uv says."""
    command = ("uv", "pip", "compile", "--quiet", "--no-annotate", "--python-version", "3.12")
    env = bots.networked_env() | {"MACOSX_DEPLOYMENT_TARGET": macos}
    options = ("--python-platform", platform, "pyproject.toml", "--group", "bot")
    done = bots.run(*command, *options, cwd=project.server, env=env)
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
    resolved, said = resolve(quickstart, ARM, f"{needed}.0")
    assert resolved and "\npipecat-ai==" in said, said
    resolved, said = resolve(quickstart, ARM, f"{needed - 1}.9")
    assert not resolved and "onnxruntime" in said, said


def test_a_mac_of_intel_cannot(quickstart: bots.Project, needed: int) -> None:
    """No macOS version helps. If this test fails one day, README.md need not exclude Intel Macs."""
    resolved, said = resolve(quickstart, INTEL, f"{needed + 20}.0")
    assert not resolved and "onnxruntime" in said, said


@pytest.mark.parametrize("platform", ["linux", ARM])
def test_funasr_has_packages_that_fit(vbot: Path, platform: str) -> None:
    """torchaudio is built for one release of torch, but its package accepts others, too."""
    services = ("-m", "cascade", "--stt", "funasr", "--llm", "openai", "--tts", "cartesia")
    args = ("funasr", "-t", "smallwebrtc", *services)
    project = bots.generate(vbot, bots.PROJECTS / "funasr", *args)
    resolved, said = resolve(project, platform)
    assert resolved, said
    versions = dict(re.findall(r"(?m)^(torch|torchaudio)==([0-9.]+)", said))
    assert versions["torch"] == versions["torchaudio"]
