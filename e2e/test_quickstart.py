"""The project of `vbot init quickstart` is correct before anybody edits it."""

import re
import time
import tomllib
from pathlib import Path

import pytest

import bots
import network
import speech
import webrtc_client
from caller import until
from conversation import KEYS, stand_ins

PROMISED = {
    "AGENTS.md",
    "AGENT_IMPORT.md",
    "README.md",
    ".gitignore",
    "server/agent.py",
    "server/bot.py",
    "server/sentences.py",
    "server/vbot/__init__.py",
    "server/pyproject.toml",
    "server/.env.example",
    "server/Dockerfile",
    "server/cloud-deploy.toml",
}
DEV = ("uv", "run", "--group", "dev")
MADE_BY_UV = {"server/.venv", "server/uv.lock"}


def test_the_project_holds_what_vbot_says_and_what_uv_makes(vbot: Path) -> None:
    project = bots.generate(vbot, bots.PROJECTS / "fresh", "quickstart")
    assert project.folder.name == "vbot-quickstart"
    assert project.files >= PROMISED
    assert bots.tree(project.folder) == project.files
    project.sync()
    assert bots.tree(project.folder) == project.files | MADE_BY_UV


def test_the_bot_passes_the_linter_and_the_formatter(quickstart: bots.Project) -> None:
    seen = bots.must(*DEV, "ruff", "check", "--show-files", cwd=quickstart.server).split()
    assert str(quickstart.server / "bot.py") in seen
    bots.must(*DEV, "ruff", "check", "--no-cache", cwd=quickstart.server)
    bots.must(*DEV, "ruff", "format", "--check", "--no-cache", cwd=quickstart.server)


def test_the_bot_passes_a_type_check_against_the_framework(quickstart: bots.Project) -> None:
    said = bots.must(*DEV, "pyright", ".", cwd=quickstart.server)
    assert "0 errors, 0 warnings, 0 informations" in said


def test_the_package_has_a_valid_name(quickstart: bots.Project) -> None:
    project = tomllib.loads((quickstart.server / "pyproject.toml").read_text())["project"]
    # https://packaging.python.org/en/latest/specifications/name-normalization/
    assert re.fullmatch(r"[A-Z0-9]|[A-Z0-9][A-Z0-9._-]*[A-Z0-9]", project["name"], re.IGNORECASE)
    assert project["name"] == "vbot-quickstart-server"


@pytest.mark.parametrize("pip", [("pip",), ("uv", "pip")], ids=" ".join)
def test_pip_installs_only_what_the_bot_depends_on(
    pip: tuple[str, ...], evaluated: bots.Project, tmp_path: Path
) -> None:
    """The folder also has tests and evals, which are not installed."""
    for name in evaluated.files:
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((evaluated.folder / name).read_bytes())
    bots.must("git", "init", "--quiet", cwd=tmp_path)
    bots.must("uv", "venv", "--quiet", "--seed", "--no-project", ".venv", cwd=tmp_path / "server")
    python = tmp_path / "server/.venv/bin/python"
    installer = (python, "-m", *pip) if pip == ("pip",) else pip
    install = (*installer, "install", "--quiet", "--no-deps", ".")
    bots.must(*install, cwd=tmp_path / "server", env=bots.networked_env())
    [record] = python.parent.parent.glob("lib/python*/site-packages/talker_server-*/RECORD")
    installed = {line.partition("/")[0] for line in record.read_text().splitlines()}
    assert installed == {record.parent.name}
    names = bots.must("git", "ls-files", "--others", "--exclude-standard", cwd=tmp_path).split()
    assert set(names) == evaluated.files


def test_a_clone_of_the_committed_project_builds(quickstart: bots.Project) -> None:
    committed = bots.PROJECTS / "committed"
    clone = bots.PROJECTS / "clone"
    # The files alone, as generated; .env is what must not get in.
    for name in quickstart.files | {"server/.env"}:
        target = committed / name
        target.parent.mkdir(parents=True, exist_ok=True)
        source = quickstart.folder / name
        target.write_bytes(source.read_bytes() if name in quickstart.files else b"SECRET=1\n")
    (committed / "server/.venv").mkdir()
    (committed / "server/.venv/pyvenv.cfg").touch()

    git = ("git", "-c", "user.name=e2e", "-c", "user.email=e2e@localhost")
    bots.must(*git, "init", "--quiet", cwd=committed)
    bots.must(*git, "add", "--all", cwd=committed)
    bots.must(*git, "commit", "--quiet", "-m", "As generated", cwd=committed)
    bots.must(*git, "clone", "--quiet", committed, clone, cwd=committed.parent)
    assert set(bots.must("git", "ls-files", cwd=clone).split()) == quickstart.files

    bots.must("uv", "sync", cwd=clone / "server")
    sources = sorted(name for name in quickstart.files if name.endswith(".py"))
    bots.must("uv", "run", "python", "-m", "py_compile", *sources, cwd=clone)


@pytest.mark.alone
def test_from_nothing_to_the_first_word(
    vbot: Path, tmp_path: Path, figures: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a newcomer waits for, with nothing in uv's cache."""
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    start = time.monotonic()
    project = bots.generate(vbot, tmp_path / "newcomer", "quickstart")
    project.sync()
    installed = time.monotonic() - start
    project.write_env(**KEYS)

    async def first_word() -> float:
        async with stand_ins() as services:
            start = time.monotonic()
            async with project.bot(services.env) as bot:
                async with webrtc_client.call(bot.url) as caller:
                    await caller.ready()
                    await until(lambda: speech.loudness(caller.heard) > 100, 30)
                    assert speech.loudness(caller.heard) > 100, bot.log
                    return time.monotonic() - start

    spoke = network.run(first_word)
    used = sum(
        path.stat().st_size for path in (project.server / ".venv").rglob("*") if path.is_file()
    )
    figures.append(
        f"quickstart: {installed:.1f} s to install {used / 1e6:.0f} MB with an empty cache, "
        f"then {spoke:.1f} s to the first word"
    )
