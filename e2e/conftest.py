"""What every check starts from: the vbot binary, and projects made with it once a session."""

import os
import shutil
from pathlib import Path

import pytest

import bots
import network

FIGURES = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    if "VBOT" not in os.environ:
        pytest.exit("these checks are started with e2e/run", returncode=2)
    config.stash[FIGURES] = []


def pytest_report_header() -> list[str]:
    return [f"vbot: {os.environ['VBOT']}", f"conversations run {network.how()}"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not network.can_fence():
        terminalreporter.section("ATTENTION")
        terminalreporter.write_line(f"conversations ran {network.how()}")
    if figures := terminalreporter.config.stash[FIGURES]:
        terminalreporter.section("figures")
        for figure in figures:
            terminalreporter.write_line(figure)


@pytest.fixture(scope="session")
def figures(request: pytest.FixtureRequest) -> list[str]:
    """Lines for the end of the run: measurements that a person wants to see."""
    return request.config.stash[FIGURES]


@pytest.fixture(scope="session")
def vbot() -> Path:
    return Path(os.environ["VBOT"]).resolve()


@pytest.fixture(scope="session", autouse=True)
def _fresh_folders() -> None:
    """Logs and projects of the last run stay until the next one, to be looked at."""
    for folder in (bots.PROJECTS, bots.CACHE / "logs", bots.CACHE / "home"):
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def quickstart(vbot: Path) -> bots.Project:
    """`vbot init quickstart`, installed."""
    project = bots.generate(vbot, bots.PROJECTS / "quickstart", "quickstart")
    project.sync()
    return project


@pytest.fixture(scope="session")
def evaluated(vbot: Path) -> bots.Project:
    """The quickstart's services with `--eval`, installed."""
    services = ["--stt", "deepgram", "--llm", "openai", "--tts", "cartesia"]
    args = ["talker", "-t", "rtc_small", "-m", "cascade", *services, "--eval"]
    project = bots.generate(vbot, bots.PROJECTS / "evaluated", *args)
    project.sync("--group", "evals")
    return project
