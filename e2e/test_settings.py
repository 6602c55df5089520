"""A bot reads .env, and no other file; templates/unit/test_settings.py has other cases."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import bots

SOURCE = Path(__file__).parents[1] / "templates/server/vbot/settings.py"


# What a program finds after the framework's runner, which reads .env in its own way.
FOUND = """
import os, vbot
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


# As another user, if this machine lets us: root reads every file.
LOAD = """
import encodings.utf_8_sig, os, sys, dotenv  # while Python itself can be read
sys.path.insert(0, "vbot")  # without its __init__.py
import settings
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
        (server / "vbot").mkdir()
        for path in (Path(folder), server, server / "vbot"):
            path.chmod(0o755)
        shutil.copy(SOURCE, server / "vbot")
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
