"""Fixtures for all tests: the vbot binary, and projects that are generated once per session.

A plugin of pytest, for e2e and e2e/services.
"""

import contextlib
import fcntl
import json
import os
import shutil
import tomllib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO, Any

import pytest

import bots
import every_bot
import network


def pytest_addoption(parser: pytest.Parser) -> None:
    what = (
        "write the tables and the picture in docs/, page.txt and the plain JavaScript client anew"
    )
    parser.addoption("--update", action="store_true", help=what)


def pytest_configure(config: pytest.Config) -> None:
    if "VBOT" not in os.environ:
        pytest.exit("these checks are started with e2e/run or e2e/services/run", returncode=2)
    config.addinivalue_line("markers", "quick: one of its kind, for every change; see e2e/run")
    config.addinivalue_line("markers", "wine: it runs a Windows program; part of `make windows`")
    config.addinivalue_line("markers", "cluster: it takes minutes, so only `-m cluster` runs it")
    config.addinivalue_line("markers", "cost: it needs an idle machine; only `-m cost` runs it")
    config.addinivalue_line("markers", "alone: it needs all cores; the other workers wait")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Remove the logs and projects of the last run, which were kept for inspection."""
    if not hasattr(session.config, "workerinput"):
        for folder in ("projects", "logs", "home"):
            shutil.rmtree(bots.CACHE / folder, ignore_errors=True)


RUNNING = pytest.StashKey[IO[str]]()  # the file that is locked while the test runs


@contextlib.contextmanager
def _locked(name: str, how: int) -> Iterator[IO[str]]:
    bots.CACHE.mkdir(exist_ok=True)
    with (bots.CACHE / name).open("w") as file:
        fcntl.flock(file, how)
        yield file


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Let a test that measures time run while the other workers pause.

    While it waits for them, it holds the gate, at which they stop before their next test.
    """
    alone = item.get_closest_marker("alone")
    with contextlib.ExitStack() as stack:
        with _locked("gate", fcntl.LOCK_EX):
            running = _locked("running", fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
            item.stash[RUNNING] = stack.enter_context(running)
        return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Run a repeated test alone, because it may have failed on a busy machine.

    It does not use the gate, which a test that waits for this one may hold.
    """
    if getattr(item, "execution_count", 1) > 1:
        fcntl.flock(item.stash[RUNNING], fcntl.LOCK_EX)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest file first, so that no worker is still busy with it at the end.

    Files whose tests all run alone come last, when they wait least for others.
    """
    others = {item.path for item in items if not item.get_closest_marker("alone")}
    items.sort(key=lambda item: (item.path not in others, item.path.name != "test_clients.py"))


def pytest_report_header() -> list[str]:
    return [f"vbot: {os.environ['VBOT']}", f"conversations run {network.how()}"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not network.can_fence():
        terminalreporter.section("ATTENTION")
        terminalreporter.write_line(f"conversations ran {network.how()}")
    reports = [r for reports in terminalreporter.stats.values() for r in reports]
    figures = [
        value
        for report in reports
        for name, value in getattr(report, "user_properties", [])
        if name == "figure" and report.when == "teardown"
    ]
    if figures:
        terminalreporter.section("figures")
        for figure in figures:
            terminalreporter.write_line(figure)


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """Lines to print at the end of the run: measurements for people."""
    lines: list[str] = []
    yield lines
    # Reports are what a worker sends.
    request.node.user_properties.extend(("figure", line) for line in lines)


@pytest.fixture(scope="session")
def vbot() -> Path:
    return Path(os.environ["VBOT"]).resolve()


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


@pytest.fixture(scope="session")
def golden_bots(vbot: Path) -> dict[str, bots.Project]:
    """The golden projects and the quickstart, by name."""
    return every_bot.generate_golden(vbot)


@pytest.fixture(scope="session")
def golden_python(vbot: Path, golden_bots: dict[str, bots.Project]) -> Path:
    """The Python of an environment with what the golden projects and vbot/ import."""
    models = every_bot.generate(vbot, every_bot.with_every_model(), bots.PROJECTS / "models")
    unit = tomllib.loads((every_bot.PACKAGE.parents[1] / "unit/pyproject.toml").read_text())
    more = sum(unit["dependency-groups"].values(), [])
    return every_bot.install([*golden_bots.values(), *models.values()], "golden", *more)


@pytest.fixture(scope="session")
def catalog(vbot: Path) -> dict[str, Any]:
    """`vbot init --list-options`."""
    return json.loads(bots.must(vbot, "init", "--list-options", cwd=vbot.parent))
