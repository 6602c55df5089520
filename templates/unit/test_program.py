"""The package can be imported by every bot, and runs one."""

import argparse
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pipecat.runner import run as runner

import vbot
from vbot import local, program, realtime
from vbot.sentences import Sentences

SERVER = Path(vbot.__file__).parents[1]
CODE = """
import vbot
import json, os, sys
set_by_it = os.environ["ORT_DISABLE_TELEMETRY"], os.getenv("LOGURU_SERIALIZE", "")
print(json.dumps([*set_by_it, sorted(sys.modules)]))
"""


@pytest.mark.parametrize("form", ["", "json"])
def test_the_package_needs_only_what_every_bot_has(form: str) -> None:
    env = {"PATH": os.environ["PATH"], "LOG_FORMAT": form, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=SERVER, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    telemetry, serialize, modules = json.loads(done.stdout)
    assert telemetry == "1" and serialize == ("true" if form else "")
    optional = {"daily", "recording", "ollama", "models", "hosting", "testing", "google"}
    assert not [name for name in modules if name.removeprefix("vbot.") in optional]
    assert "vbot.local" not in modules  # the development runner, which hosting does not need


def test_a_word_for_word_greeting_of_a_model_that_speaks() -> None:
    asked = realtime.greeting("Greet.", False)
    assert asked.messages == [{"role": "developer", "content": "Greet."}] and asked.run_llm
    [said] = realtime.greeting("Hello!", True).messages
    assert said["content"] == 'Say exactly this, and nothing else: "Hello!"'  # type: ignore


def test_sentences_are_named_and_fixed() -> None:
    with pytest.raises(TypeError):
        Sentences("en")  # type: ignore


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is done, in its order."""
    steps: list[Any] = []
    daily: Any = ModuleType("vbot.daily")
    daily.guard = lambda app, transports: steps.append(f"guard {' '.join(transports)}")
    daily.take_calls = lambda app, bot: steps.append(f"take calls for {bot}")
    monkeypatch.setitem(sys.modules, "vbot.daily", daily)
    monkeypatch.setattr(local, "prepare", lambda app, bot: f"cancellable {bot}")

    def main(arguments: argparse.ArgumentParser) -> None:
        arguments.add_argument("--host", default="127.0.0.1")
        arguments.add_argument("--port", type=int, default=0)
        arguments.add_argument("--direct", action="store_true")
        arguments.parse_args()
        steps.append("main")

    monkeypatch.setattr(runner, "main", main)
    monkeypatch.setattr(sys, "argv", ["bot.py"])
    return steps


@pytest.mark.parametrize(
    ("argument", "status", "says"),
    [("--help", 0, "usage: "), ("--wrong", 2, "--wrong"), ("--port=", 1, "is taken. Choose")],
)
def test_arguments_come_first(
    steps: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    argument: str,
    status: int,
    says: str,
) -> None:
    """Before anything that may be missing, or takes long."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        argument += str(other.getsockname()[1]) if argument.endswith("=") else ""
        monkeypatch.setattr(sys, "argv", ["bot.py", argument])
        with pytest.raises(SystemExit) as end:
            bot: Any = "bot"
            program.run(bot, ["ABSENT"], {}, load=lambda: steps.append("load"))
    told = str(end.value.code) if status == 1 else "".join(capsys.readouterr())
    assert says in told and (status == 1 or end.value.code == status)
    assert steps == []


def test_a_bot_runs(steps: list[Any]) -> None:
    bot: Any = "bot"
    checked = [lambda: steps.append("checked") or []]
    program.run(
        bot,
        checked,
        {"webrtc": list},
        load=lambda: steps.append("load"),
        background=[lambda: steps.append("background")],
    )
    assert steps == ["checked", "background", "load", "main"]


def test_a_bot_of_calls_is_guarded(steps: list[Any]) -> None:
    bot: Any = "bot"
    program.run(bot, [], {"call": list, "webrtc": list})
    assert steps == ["guard call webrtc", "take calls for cancellable bot", "main"]
    steps.clear()
    program.run(bot, [], {"dialin": list})
    assert steps == ["guard dialin", "main"]


def test_a_bot_that_lacks_something_does_nothing(steps: list[Any]) -> None:
    bot: Any = "bot"
    with pytest.raises(SystemExit, match="Set ABSENT in .env"):
        program.run(bot, ["ABSENT"], {}, background=[lambda: steps.append("background")])
    assert steps == []


def test_a_folder_for_records_that_may_not_be_written_stops_the_program(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RECORDS", str(tmp_path / "file"))
    monkeypatch.setattr("sys.argv", ["bot.py", "--port", "0"])
    with pytest.raises(SystemExit, match="RECORDS in .env is '.*/file', where the bot cannot"):
        program.run(None, [], {})  # type: ignore
