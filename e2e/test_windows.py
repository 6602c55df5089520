"""Prompts at a Windows console, as far as Wine shows it. `make windows` runs the Go tests there."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WINE = ROOT / "e2e" / "wine"
BUILD = {**os.environ, "GOOS": "windows", "CGO_ENABLED": "0"}

pytestmark = pytest.mark.wine


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("windows") / "vbot.exe"
    build = ["go", "build", "-buildvcs=false", "-o", str(path), "."]
    subprocess.run(build, cwd=ROOT, env=BUILD, check=True)
    return path


class Console:
    """A program at a Windows console, which Wine shows on a pseudo-terminal."""

    def __init__(self, program: Path, *args: str, **env: str) -> None:
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(program.parent)
            os.execve(WINE, [str(WINE), program.name, *args], {**os.environ, **env})
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        self.shown = ""

    def wait_for(self, text: str, within: float = 60) -> None:
        """Read until `text` is shown. Wine's own sequences for the cursor are left out."""
        deadline = time.monotonic() + within
        while text not in self.shown:
            ready, _, _ = select.select([self.fd], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                pytest.fail(f"{text!r} is not shown, but {self.shown!r}")
            try:
                data = os.read(self.fd, 1 << 16)
            except OSError:  # it ended
                data = b""
            if not data:
                pytest.fail(f"it ended without {text!r}: {self.shown!r}")
            self.shown += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", data.decode(errors="replace"))

    def type(self, line: str) -> None:
        time.sleep(1)  # the prompt stands before Wine reads keys for it
        os.write(self.fd, line.encode() + b"\r")

    def code(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_wizard_at_a_console(program: Path) -> None:
    """Without TERM, as Windows has it, the questions are numbered lines."""
    console = Console(program, "init")
    console.wait_for("Directory (Enter: my-bot):")
    console.type("parlour")
    console.wait_for("Recommended bot")
    console.wait_for("Number or name (Enter: Recommended bot):")
    console.type("1")
    console.wait_for("Write")
    console.type("")
    console.wait_for("uv run bot.py")
    assert console.code() == 0
    bot = program.parent / "parlour" / "server" / "bot.py"
    assert b"\r" not in bot.read_bytes()


def test_hidden_prompt_at_a_console(program: Path) -> None:
    config = program.parent / "config.json"
    console = Console(
        program, "cloud", "login", VBOT_CONFIG=config.name, VBOT_API_URL="http://127.0.0.1:9"
    )
    console.wait_for("Token (hidden):")
    console.type("pcc_pat_hidden")
    console.wait_for("nothing answers at 127.0.0.1:9")
    assert console.code() == 6
    assert "pcc_pat_hidden" not in console.shown
    assert not config.exists()
