"""settings.py reads .env. It has the same bytes in every project."""

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType

import pytest

import bots

SOURCE = Path(__file__).parents[1] / "templates/server/settings.py"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module in a folder of its own, as .env is looked for beside it."""
    for name in ("A", "B", "C", "D", "SOME_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "settings.py").write_bytes(SOURCE.read_bytes())
    spec = importlib.util.spec_from_file_location("settings", tmp_path / "settings.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "environ", os.environ.copy())
    return module


def test_a_blank_line_counts_as_not_set(settings: ModuleType) -> None:
    """So the value that the shell has exported stays; a value in .env overrides it."""
    os.environ |= {"B": "exported", "C": " ", "SOME_API_KEY": "exported"}
    Path(".env").write_text("A=1\nB=\nC=\nSOME_API_KEY=2\nD=\n")
    settings.load()
    settings.load()  # as two programs of one process do
    assert os.environ["A"] == "1"
    assert os.environ["B"] == "exported"
    assert os.environ["SOME_API_KEY"] == "2"
    assert "C" not in os.environ and "D" not in os.environ


def test_the_forms_of_variables(settings: ModuleType) -> None:
    """A number that is none is named at the start, not by a traceback in the first call."""
    os.environ |= {"PORT": "any", "MAX_SESSIONS": "many", "FALLBACK_NUMBER": "911"}
    Path(".env").write_text("SILENCE_SECONDS=2.5\nSTARTS_PER_MINUTE=1.5\nDRAIN_SECONDS=\n")
    with pytest.raises(SystemExit) as stopped:
        settings.load()
    assert str(stopped.value).splitlines() == [
        "FALLBACK_NUMBER in .env must be like +15551234567.",
        "MAX_SESSIONS in .env must be like 4.",
        "STARTS_PER_MINUTE in .env must be like 6.",
    ]


# What a program finds after the framework's runner, which reads .env in its own way.
FOUND = """
import os, settings
settings.load()
import pipecat.runner.run
print(*[os.getenv(name) for name in ("OPENAI_API_KEY", "CARTESIA_API_KEY", "DEEPGRAM_API_KEY")])
"""


@pytest.mark.parametrize("kept", [True, False], ids=["with .env", "without .env"])
def test_the_framework_reads_no_other_file(quickstart: bots.Project, kept: bool) -> None:
    """Nor .env again, where a blank line would erase what the shell has exported."""
    quickstart.write_env(OPENAI_API_KEY="", CARTESIA_API_KEY="of-the-file")
    file, parent = quickstart.server / ".env", quickstart.folder / ".env"
    parent.write_text("OPENAI_API_KEY=of-the-parent\nDEEPGRAM_API_KEY=of-the-parent\n")
    if not kept:
        file.unlink()
    exported = {"OPENAI_API_KEY": "exported", "CARTESIA_API_KEY": "exported"}
    env = bots.plain_env() | exported
    try:
        found = bots.must("uv", "run", "python", "-c", FOUND, cwd=quickstart.server, env=env)
        assert found.split() == ["exported", "of-the-file" if kept else "exported", "None"]
        done = bots.run("uv", "run", "bot.py", cwd=quickstart.server, env=env, timeout=60)
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1].startswith("Set DEEPGRAM_API_KEY in .env;")
    finally:
        parent.unlink()


@pytest.mark.parametrize(
    ("env", "needs", "said"),
    [
        ("A=1", "'A'", ""),
        ("A=", "'A'", "Set A in"),
        ("", "'A', Needs('B')", "Set A, B in"),
        ("", "Needs('A', 'B'), Needs('A', 'C')", "Set A in"),
        ("C=1", "Needs('A', 'B', 'C')", ""),
        ("", "Needs('A', if_set='B')", ""),
        ("B=1", "Needs('A', if_set='B')", "Set A in"),
        ("", "Needs('A', 'B', only_one=True)", "Set A in"),
        ("B=1", "Needs('A', 'B', only_one=True)", ""),
        ("A=1\nB=1", "Needs('A', 'B', only_one=True)", "Set A or B in .env, not both."),
        ("A=1\nB=1", "Needs('A', 'B')", ""),
        ("", "Needs('A', transport='phone')", ""),
        ("", "Needs('A', transport='served'), 'B'", "Set A, B in"),
        ("", "Needs('A', transport='chosen'), Needs('B', transport='phone'), 'C'", "Set A, C in"),
        ("B=1", "Needs('C', if_set='B', transport='served')", "Set C in"),
        ("SOME_API_KEY='“x”'", "", "Copy SOME_API_KEY to .env again"),
        ("SOME_API_KEY='a b'", "'C'", "Copy SOME_API_KEY to .env again"),
        ("SOME_API_KEY=x", "", ""),
    ],
)
def test_what_is_required(
    settings: ModuleType, env: str, needs: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(".env").write_text(env)
    monkeypatch.setattr(sys, "argv", ["bot.py", "--port", "1", "-t", "chosen"])
    required = eval(f"[{needs}]", vars(settings))
    settings.load()
    if not said:
        settings.require(required, transports=["web", "served"])
        return
    with pytest.raises(SystemExit) as stopped:
        settings.require(required, transports=["web", "served"])
    text = str(stopped.value)
    assert text.startswith(said)
    assert "“x”" not in text and "a b" not in text


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("\ufeffA=1\nB=2\n".encode(), ""),
        ("A=1\r\n# ü\r\n".encode(), ""),
        ("A=1\n".encode("utf-16"), "Save it as UTF-8."),
        ("A=1\n# ü\n".encode("cp1252"), "Save it as UTF-8."),
    ],
)
def test_files_of_editors_are_read_or_refused(settings: ModuleType, data: bytes, said: str) -> None:
    """The first variable is read after a byte order mark; other encodings are refused."""
    Path(".env").write_bytes(data)
    if not said:
        settings.load()
        assert os.environ["A"] == "1"
        return
    with pytest.raises(SystemExit, match=said):
        settings.load()


# As another user, if this machine lets us: root reads every file.
LOAD = """
import encodings.utf_8_sig, os, sys, dotenv, settings  # while Python itself can be read
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(10001)
    os.setuid(10001)
settings.load()
print(os.environ["A"])
"""


def test_a_file_that_cannot_be_read_is_named_with_what_helps() -> None:
    """In one line. The command that it has helps, and takes the file from nobody."""
    root = os.getuid() == 0
    with tempfile.TemporaryDirectory() as folder:
        server = Path(folder, "server")
        server.mkdir()
        for path in (Path(folder), server):
            path.chmod(0o755)
        (server / "settings.py").write_bytes(SOURCE.read_bytes())
        env = server / ".env"
        env.write_text("A=1\n")
        env.chmod(0o600 if root else 0)

        def load() -> subprocess.CompletedProcess[str]:
            command = [sys.executable, "-c", LOAD]
            return subprocess.run(command, cwd=server, capture_output=True, text=True, check=False)

        done = load()
        assert done.returncode == 1 and done.stdout == ""
        user = 10001 if root else os.getuid()
        line = rf"{re.escape(str(env))} cannot be read by user {user}\. In .*: (sudo .*)\n"
        assert (match := re.fullmatch(line, done.stderr)), done.stderr
        subprocess.run(match[1].replace("sudo ", ""), shell=True, cwd=folder, check=True)
        done = load()
        assert done.stdout == "1\n", done.stderr
        assert env.stat().st_uid == os.getuid() and env.stat().st_mode & 0o777 == 0o640
