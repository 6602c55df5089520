"""The questions of `vbot init` in tmux, with a person's keystrokes.

The screens are those of golden/wizard. The Go tests make them with their own terminal, and these
tests compare them with a real one.
"""

import ast
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "golden" / "wizard"
SPEECH_TO_TEXT = len(list((ROOT / "templates" / "services" / "stt").glob("*.py")))

# What tmux calls the keys that are not text.
KEYS = {
    "\r": "Enter",
    "\n": "Enter",
    "\t": "Tab",
    " ": "Space",
    "\x03": "C-c",
    "\x15": "C-u",
    "\x1b[A": "Up",
    "\x1b[B": "Down",
    "\x1b[D": "Left",
    "\x1b[Z": "BTab",
}


class Window:
    """A tmux window in which a shell waits, or a command runs, in a directory of its own."""

    def __init__(
        self, vbot: Path, width: int, height: int, *, run: str = "", term: str = ""
    ) -> None:
        self.dir = Path(tempfile.mkdtemp(prefix="vbot-")) / "work"
        self.dir.mkdir()
        self.socket = self.dir.parent.name
        (self.dir / "file").touch()
        path = f"PATH={vbot.parent}:{os.environ['PATH']}"
        shell = ["bash", "-c", f"{run}; read"] if run else ["bash", "--norc"]
        size = ["-x", str(width), "-y", str(height)]
        self.tmux(
            *("-f", "/dev/null", "new-session", "-d", *size, "-c", str(self.dir)),
            *("env", "PS1=$ ", path, *([f"TERM={term}"] if term else []), *shell),
        )
        if not run:
            self.until(lambda: self.lines() == ["$"], "the shell")

    def tmux(self, *args: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self.socket, *args], capture_output=True, text=True, check=True
        )
        return done.stdout

    def close(self) -> None:
        self.tmux("kill-server")
        shutil.rmtree(self.dir.parent)

    def lines(self, *options: str) -> list[str]:
        """The lines on the screen, without blank ones at the end."""
        text = self.tmux("capture-pane", "-p", *options).replace(str(self.dir), "DIR")
        return [line.rstrip() for line in text.rstrip().split("\n")]

    def cursor(self) -> tuple[int, int]:
        x, y = self.tmux("display-message", "-p", "#{cursor_x} #{cursor_y}").split()
        return int(x), int(y)

    def types(self, keys: str) -> None:
        text = ""
        while keys or text:
            key = next((k for k in KEYS if keys.startswith(k)), None)
            if key is None and keys:
                text, keys = text + keys[0], keys[1:]
                continue
            if text:
                # tmux takes a semicolon at the end for its own.
                self.tmux("send-keys", "-l", "--", re.sub(";$", r"\\;", text))
                text = ""
            if key:
                self.tmux("send-keys", KEYS[key])
                keys = keys[len(key) :]

    def until(self, condition, what: str) -> None:
        deadline = time.monotonic() + 20
        while not condition():
            assert time.monotonic() < deadline, f"{what} never came:\n" + "\n".join(self.lines())
            time.sleep(0.02)

    def shows(self, text: str) -> None:
        self.until(lambda: text in "\n".join(self.lines()), text)


@pytest.fixture
def window(vbot: Path) -> Iterator:
    """Opens a window of a size; it closes with the test."""
    opened = []

    def open_window(*args, **kwargs) -> Window:
        opened.append(Window(vbot, *args, **kwargs))
        return opened[-1]

    yield open_window
    for w in opened:
        w.close()


QUICK = pytest.mark.quick


@pytest.mark.parametrize(
    ("name", "width", "height", "term", "command"),
    [
        pytest.param("cascade", 80, 24, "", "vbot init", marks=QUICK),
        ("change", 80, 24, "", "vbot init parlour"),
        ("back", 80, 24, "", "vbot init"),
        ("recommended", 80, 24, "", "vbot init"),
        ("guides", 80, 24, "", "vbot init"),
        ("small-window", 40, 10, "", "vbot init"),
        ("narrow", 20, 12, "", "vbot init"),
        pytest.param("plain", 80, 24, "dumb", "vbot init", marks=QUICK),
    ],
)
def test_screens(window, name: str, width: int, height: int, term: str, command: str) -> None:
    w = window(width, height, run=command, term=term)
    steps = (GOLDEN / f"{name}.txt").read_text().split("\n=====\n")[:-1]
    assert len(steps) > 3
    for step in steps:
        keys, _, drawn = step.partition("\n")
        keys = ast.literal_eval(keys)
        w.types(keys)
        want = drawn.split("\n")
        row = next(i for i, line in enumerate(want) if "|" in line)
        column = want[row].index("|")
        want[row] = want[row].replace("|", "", 1)

        def as_drawn(want=want, row=row, column=column) -> bool:
            got, (x, y) = w.lines(), w.cursor()
            # What scrolled away is not on the screen, but in the golden file.
            whole = [line.rstrip() for line in "\n".join(want).rstrip().split("\n")]
            away = len(whole) - len(got)
            return away >= 0 and got == whole[away:] and (x, y) == (column, row - away)

        w.until(as_drawn, f"{name}, the screen after {keys!r}")


def test_a_bot_in_a_few_keystrokes(window) -> None:
    w = window(80, 24)
    w.types("vbot init\r")
    for question in ("Directory", "How do you"):
        w.shows(f"? {question}")
        w.types("\r")
    w.shows("? Proceed?")
    assert os.listdir(w.dir) == ["file"]
    w.types("\r")
    w.shows("To do the same without questions:")
    assert (w.dir / "my-bot" / "server" / "bot.py").is_file()


def test_the_window_changes_its_size(window) -> None:
    """The window shows the question once, and what was there before is not lost."""
    w = window(80, 50, run="echo printed by the shell; vbot init parlour")
    w.shows("? How do you want to start?")
    w.types("own\r\r\r\r\r\r")
    w.shows(f"{SPEECH_TO_TEXT} of {SPEECH_TO_TEXT}")
    asked = w.lines()
    assert asked[0] == "printed by the shell"
    [longest] = [line for line in asked if "AWS" in line]
    for width, height, drawn in (
        (60, 30, longest.partition(" 80 languages")[0].rstrip()),
        (45, 24, "  Left goes back"),  # tmux breaks lines within words
        (120, 50, longest),
        (80, 50, longest),
    ):
        w.tmux("resize-window", "-x", str(width), "-y", str(height))
        w.until(lambda line=drawn: line in w.lines(), f"the list in {width} columns")
        assert sum("? Speech to text" in line for line in w.lines()) == 1
    at = asked.index("? Speech to text:")
    assert w.lines("-S", "-")[:at] == asked[:at]
    # Back, and the list is gone.
    w.types("\x1b[D\x1b[D\x1b[D")
    w.shows("? How do people connect?")
    assert not any("? Speech to text" in line for line in w.lines())


def test_stopped_and_back(window) -> None:
    w = window(80, 24)
    w.types("stty -g > before; vbot init parlour\r")
    w.types("own\r\r\r\r\r\rwhisper")
    w.shows(f"of {SPEECH_TO_TEXT}")
    w.tmux("send-keys", "C-z")  # it means nothing here
    shell = w.tmux("display-message", "-p", "#{pane_pid}").strip()
    children = Path(f"/proc/{shell}/task/{shell}/children").read_text().split()
    os.kill(int(children[-1]), signal.SIGSTOP)
    w.shows("Stopped")
    w.types("fg\r")
    w.until(lambda: w.lines()[-1].endswith("Left goes back"), "the question once more")
    w.shows("? Speech to text: whisper")
    w.tmux("send-keys", "C-c")
    w.shows("cancelled; nothing was written")
    w.types("stty -g > after\r")
    w.until(lambda: (w.dir / "after").exists() and (w.dir / "after").read_text(), "stty")
    assert (w.dir / "before").read_text() == (w.dir / "after").read_text()
    assert not (w.dir / "parlour").exists()


def test_a_paste_presses_no_enter(window) -> None:
    w = window(80, 24)
    w.types("vbot init\r")
    w.shows("? Directory")
    w.tmux("set-buffer", "parlour\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n")
    w.tmux("paste-buffer", "-p")
    w.shows("? Directory (my-bot): parlour")
    w.types("\r")
    w.shows("? How do you want to start?")
    w.tmux("send-keys", "C-c")
    w.shows("cancelled; nothing was written")
    assert os.listdir(w.dir) == ["file"]
