"""vbot/local.py handles the development runner's arguments. It is the same in every project."""

import importlib.util
import socket
import sys
from pathlib import Path
from types import ModuleType

import pytest

SOURCE = Path(__file__).parents[1] / "templates/server/vbot/local.py"


@pytest.fixture
def local(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module, without the packages that it needs to serve a bot."""
    for name, *classes in (
        ("fastapi", "FastAPI"),
        ("vbot", "log", "page"),
        ("vbot.presence", "attended"),
        ("pipecat.runner", "run"),
        ("pipecat.runner.types", "RunnerArguments"),
        ("starlette.responses", "FileResponse", "PlainTextResponse"),
    ):
        absent = ModuleType(name)
        absent.__dict__.update(dict.fromkeys(classes))
        monkeypatch.setitem(sys.modules, name, absent)
    spec = importlib.util.spec_from_file_location("local", SOURCE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("typed", "taken"), [("", True), ("--direct", False), ("--host=nowhere.invalid", False)]
)
def test_a_taken_port_is_named(local: ModuleType, typed: str, taken: bool) -> None:
    """A bot that joins Daily's room needs no port, and the server reports other errors."""
    parser = local.Arguments(lambda: None)
    parser.add_argument("--host", default="localhost")
    parser.add_argument("--port", type=int)
    parser.add_argument("--direct", action="store_true")
    with socket.create_server(("localhost", 0)) as other:
        port = other.getsockname()[1]
        args = [*typed.split(), f"--port={port}"]
        if taken:
            with pytest.raises(SystemExit, match=f"{port} is taken.*--port {port + 1}$"):
                parser.parse_args(args)
        else:
            assert parser.parse_args(args).port == port
        with socket.create_connection(("localhost", port)) as client:
            other.accept()[0].close()  # this end waits for a while, as a bot's that was stopped
            client.recv(1)
    assert parser.parse_args(args).port == port


@pytest.mark.parametrize(
    ("typed", "level"),
    [("", "INFO"), ("-t webrtc", "INFO"), ("--port 1 -v", "DEBUG"), ("-vv", "TRACE")],
)
def test_the_level_of_the_log(
    local: ModuleType, monkeypatch: pytest.MonkeyPatch, typed: str, level: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["bot.py", *typed.split()])
    monkeypatch.delenv("LOG_LEVEL", raising=False)
    assert local.log_level() == level
    monkeypatch.setenv("LOG_LEVEL", "warning")
    assert local.log_level() == ("WARNING" if level == "INFO" else level)
