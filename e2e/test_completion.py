"""`vbot completion` in the real shells: a person presses Tab in a terminal."""

import json
import os
import shutil
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import tree_sitter
import tree_sitter_powershell

import bots

# How each shell starts without the settings of a person, and how it takes the script.
SHELLS = {
    "bash": (
        "bash --norc --noprofile -i",
        'PS1="> "; bind "set bell-style none"; eval "$(vbot completion bash)"',
    ),
    "zsh": (
        "zsh -f -i",
        'PS1="> "; unsetopt beep; autoload compinit; compinit -u -D; eval "$(vbot completion zsh)"',
    ),
    "fish": (
        "fish --no-config -i",
        'function fish_prompt; echo -n "> "; end; set -g fish_autosuggestion_enabled 0; '
        "vbot completion fish | source",
    ),
}

# What is typed before Tab, and what stands there after it.
CASES = [
    ("vbot cl", "vbot cloud"),
    ("vbot cloud secrets im", "vbot cloud secrets image-pull-secret"),
    ("vbot init --observ", "vbot init --observability"),
    ("vbot cloud secrets set x --wai", "vbot cloud secrets set x --wait"),
    ("vbot init --mode cas", "vbot init --mode cascade"),
    ("vbot init --mode=re", "vbot init --mode=realtime"),
    ("vbot init --llm anthropi", "vbot init --llm anthropic"),
    ("vbot init -t smallw", "vbot init -t smallwebrtc"),
    ("vbot init --no-eval --video video_", "vbot init --no-eval --video video_"),
    ("vbot init quicks", "vbot init quickstart"),
    ("vbot init my", r"vbot init my\ bots"),
    ("vbot init --config conf", "vbot init --config config.json"),
    ("vbot cloud secrets set x --file=a", r"vbot cloud secrets set x --file=a\ b.env"),
    ("vbot completion fi", "vbot completion fish"),
    ("vbot he", "vbot help"),
    ("vbot help env", "vbot help environment"),
    # An empty word: several answers, so the line stays.
    ("vbot completion ", "vbot completion "),
    ("vbot init -t ", "vbot init -t "),
    ("vbot init --mode=", "vbot init --mode="),
    # An open quote, and quotes in the words before.
    ('vbot init --mode "cas', 'vbot init --mode "cascade"'),
    ("vbot init --mode 're", "vbot init --mode 'realtime'"),
    ('vbot init "quicks', 'vbot init "quickstart"'),
    ('vbot init --config "a', 'vbot init --config "a b.env"'),
    ('vbot init "my bots" --stt deepgram_fl', 'vbot init "my bots" --stt deepgram_flux'),
    (r"vbot init my\ bots --mode c", r"vbot init my\ bots --mode cascade"),
    # The home directory.
    ("vbot init --config ~/conf", "vbot init --config ~/config.json"),
    ("vbot init --config=~/conf", "vbot init --config=~/config.json"),
]


class Terminal:
    """A shell on a terminal of tmux."""

    def __init__(self, command: str, cwd: Path, env: dict[str, str]) -> None:
        self.tmux = ["tmux", "-f", os.devnull, "-L", f"vbot-{uuid.uuid4().hex}"]
        self.run("new-session", "-d", "-x", "120", "-y", "30", "-c", str(cwd), command, env=env)

    def run(self, *args: str, env: dict[str, str] | None = None) -> str:
        command = [*self.tmux, *args]
        return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout

    def types(self, text: str) -> None:
        self.run("send-keys", "-l", "--", text)

    def presses(self, *keys: str) -> None:
        self.run("send-keys", *keys)

    def line(self) -> str:
        """The line that is being typed: the last one with a prompt. A list may stand below."""
        lines = self.run("capture-pane", "-p").splitlines()
        return next((line.rstrip() for line in reversed(lines) if line.startswith(">")), "")

    def waits_for(self, *wanted: str) -> None:
        """Wait until that line is one of those wanted."""
        deadline = time.monotonic() + 20
        while self.line() not in wanted:
            if time.monotonic() > deadline:
                pytest.fail(f"the terminal shows {self.line()!r}, and should {wanted!r}")
            time.sleep(0.02)


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest, vbot: Path, tmp_path: Path) -> Iterator[Terminal]:
    start, setup = SHELLS[request.param]
    folder = tmp_path / "bin"
    folder.mkdir()
    shutil.copy(vbot, folder / "vbot")
    (tmp_path / "my bots").mkdir()
    (tmp_path / "config.json").touch()
    (tmp_path / "a b.env").touch()
    path = f"{folder}:{os.environ['PATH']}"
    env = bots.plain_env() | {"PATH": path, "TERM": "xterm", "HOME": str(tmp_path)}
    terminal = Terminal(start, tmp_path, env)
    try:
        terminal.types(setup)
        terminal.presses("Enter")
        terminal.types("clear")
        terminal.presses("Enter")
        terminal.waits_for(">")
        yield terminal
    finally:
        terminal.run("kill-server")


# Prints what bash and fish offer behind each option of `vbot init`.
AFTER = {
    "bash": """
        for option in "$@"; do
            COMP_WORDS=(vbot init "$option" "") COMP_CWORD=3 COMPREPLY=()
            _vbot
            echo "after $option" "${COMPREPLY[@]}"
        done""",
    "fish": """
        for option in $argv
            echo after $option (complete -C "vbot init $option " | string replace -r '\t.*' '')
        end
        true""",
}


@pytest.mark.parametrize("name", AFTER)
def test_after_each_option(vbot: Path, tmp_path: Path, name: str) -> None:
    def run(*args: str) -> str:
        env = bots.plain_env() | {"PATH": f"{vbot.parent}:{os.environ['PATH']}"}
        return subprocess.run(
            args, env=env, cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout

    page = json.loads(run(str(vbot), "help", "init", "--json"))
    options = [option for line in page["options"] for option in line["names"]]
    assert len(options) > 40
    wanted = []
    for option in options:
        lines = run(str(vbot), "completion", "words", "--", "init", option, "").splitlines()
        words = [line.split("\t")[0] for line in lines if not line.startswith(":")]
        wanted.append(sorted(["after", option, *words]))
    script = run(str(vbot), "completion", name) + AFTER[name]
    extra = ["bash"] if name == "bash" else ["--"]
    got = run(name, "-c", script, *extra, *options).splitlines()
    assert [sorted(line.split()) for line in got] == wanted


def test_zsh_without_its_completion_system(vbot: Path) -> None:
    """The script says what must run before it, instead of "command not found"."""
    env = bots.plain_env() | {"PATH": f"{vbot.parent}:{os.environ['PATH']}"}
    script = 'eval "$(vbot completion zsh)"'
    ran = subprocess.run(["zsh", "-f", "-c", script], env=env, capture_output=True, text=True)
    assert "run: autoload -Uz compinit && compinit" in ran.stderr
    assert "not found" not in ran.stderr
    script = "autoload -Uz compinit && compinit -u -D; " + script
    ran = subprocess.run(["zsh", "-f", "-c", script], env=env, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_bash_without_compopt(vbot: Path, tmp_path: Path) -> None:
    """Bash 3.2, which macOS has, lacks this command."""
    (tmp_path / "bot.json").touch()
    env = bots.plain_env() | {"PATH": f"{vbot.parent}:{os.environ['PATH']}"}
    script = """
        enable -n compopt; eval "$(vbot completion bash)"
        COMP_WORDS=(vbot init --config b) COMP_CWORD=3; _vbot; echo "${COMPREPLY[@]}"
        COMP_WORDS=(vbot init --mode = c) COMP_CWORD=4; _vbot; echo "${COMPREPLY[@]}"
    """
    ran = subprocess.run(
        ["bash", "-c", script], env=env, cwd=tmp_path, capture_output=True, text=True
    )
    assert (ran.stdout, ran.stderr) == ("bot.json\ncascade\n", "")


def test_powershell_parses(vbot: Path) -> None:
    """No registry has PowerShell, so a parser for its language reads the script."""
    script = subprocess.run(
        [vbot, "completion", "powershell"], check=True, capture_output=True
    ).stdout
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_powershell.language()))
    assert not parser.parse(script).root_node.has_error
    assert parser.parse(script.replace(b"}", b"", 1)).root_node.has_error


def test_tab_completes(shell: Terminal) -> None:
    for typed, completed in CASES:
        shell.types(typed)
        shell.waits_for(f"> {typed}".rstrip())
        shell.presses("Tab")
        # What is typed next stands right behind what the shell made of it.
        shell.types("#")
        shell.waits_for(f"> {completed}#", f"> {completed} #", f"> {completed}/#")
        shell.presses("C-c")
        shell.types("clear")
        shell.presses("Enter")
        shell.waits_for(">")
