"""settings.py reads .env, and says what is missing or wrong."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from vbot import Needs, settings

SERVED = ["web", "served"]


@pytest.fixture(autouse=True)
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A .env of its own, and an environment that may be changed."""
    names = ("A", "B", "C", "D", "PYTHON_DOTENV_DISABLED", "SOME_API_KEY")
    monkeypatch.setattr(os, "environ", {k: v for k, v in os.environ.items() if k not in names})
    monkeypatch.setattr(settings, "ENV_FILE", tmp_path / ".env")
    monkeypatch.setattr(sys, "argv", ["bot.py", "--port", "1", "-t", "chosen"])
    return tmp_path / ".env"


def test_where_the_file_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside bot.py, not in the package."""
    monkeypatch.undo()
    assert settings.ENV_FILE == Path(settings.__file__).parents[1] / ".env"


def test_a_blank_line_counts_as_not_set(env: Path) -> None:
    """So the value that the shell has exported stays; a value in .env overrides it."""
    os.environ |= {"B": "exported", "C": " ", "SOME_API_KEY": "exported"}
    env.write_text("A=1\nB=\nC=\nSOME_API_KEY=2\nD=\n")
    settings.load()
    settings.load()  # as two programs of one process do
    assert os.environ["A"] == "1"
    assert os.environ["B"] == "exported"
    assert os.environ["SOME_API_KEY"] == "2"
    assert "C" not in os.environ and "D" not in os.environ


def test_the_framework_reads_no_other_file() -> None:
    settings.load()
    assert os.environ["PYTHON_DOTENV_DISABLED"] == "1"


def test_tests_do_not_read_it(env: Path) -> None:
    """It has the real keys, and addresses that would override those of stand-ins."""
    env.write_text("A=1\n")
    os.environ["PYTHON_DOTENV_DISABLED"] = "1"
    settings.load()
    assert "A" not in os.environ


def test_the_forms_of_variables(env: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong number is named at the start, not by a traceback in the first call."""
    monkeypatch.setattr(settings, "ASTERISK", env / "none")
    os.environ |= {"PORT": "any", "MAX_SESSIONS": "many", "FALLBACK_NUMBER": "911"}
    env.write_text("SILENCE_SECONDS=2.5\nSTARTS_PER_MINUTE=1.5\nDRAIN_SECONDS=\n")
    with pytest.raises(SystemExit) as stopped:
        settings.load()
    assert str(stopped.value).splitlines() == [
        "FALLBACK_NUMBER in .env must be like +15551234567.",
        "MAX_SESSIONS in .env must be like 4.",
        "STARTS_PER_MINUTE in .env must be like 6.",
    ]


@pytest.mark.parametrize(
    ("number", "is_right"), [("911", True), ("+49301234", True), ("1;2", False)]
)
def test_asterisk_connects_callers_to_extensions(number: str, is_right: bool, env: Path) -> None:
    os.environ["FALLBACK_NUMBER"] = number
    if is_right:
        return settings.load()
    with pytest.raises(SystemExit, match="FALLBACK_NUMBER in .env must be like 200 or"):
        settings.load()


@pytest.mark.parametrize(
    ("text", "required", "said"),
    [
        ("A=1", ["A"], ""),
        ("A=", ["A"], "Set A in"),
        ("", ["A", Needs("B")], "Set A, B in"),
        ("", [Needs("A", "B"), Needs("A", "C")], "Set A in"),
        ("C=1", [Needs("A", "B", "C")], ""),
        ("", [Needs("A", if_set="B")], ""),
        ("B=1", [Needs("A", if_set="B")], "Set A in"),
        ("", [Needs("A", "B", only_one=True)], "Set A in"),
        ("B=1", [Needs("A", "B", only_one=True)], ""),
        ("A=1\nB=1", [Needs("A", "B", only_one=True)], "Set A or B in .env, not both."),
        ("A=1\nB=1", [Needs("A", "B")], ""),
        ("", [Needs("A", transport="phone")], ""),
        ("", [Needs("A", transport="served"), "B"], "Set A, B in"),
        (
            "",
            [Needs("A", transport="chosen"), Needs("B", transport="phone"), "C"],
            "Set A, C in",
        ),
        ("B=1", [Needs("C", if_set="B", transport="served")], "Set C in"),
        ("", [list], ""),
        ("", [lambda: ["No account.", "No disk."], "A"], "No account.\nNo disk.\nSet A in"),
        ("SOME_API_KEY='“x”'", [], "Copy SOME_API_KEY to .env again"),
        ("SOME_API_KEY='a b'", ["C"], "Copy SOME_API_KEY to .env again"),
        ("SOME_API_KEY=x", [], ""),
        ("TIME_ZONE=Europe/Berlin", [], ""),
        ("TIME_ZONE=CET+1", [], "TIME_ZONE in .env is 'CET+1'; it must be like Europe/Berlin."),
    ],
)
def test_what_is_required(env: Path, text: str, required: list[Any], said: str) -> None:
    env.write_text(text)
    settings.load()
    if not said:
        settings.require(required, transports=SERVED)
        return
    with pytest.raises(SystemExit) as stopped:
        settings.require(required, transports=SERVED)
    message = str(stopped.value)
    assert message.startswith(said)
    assert "“x”" not in message and "a b" not in message


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("\ufeffA=1\nB=2\n".encode(), ""),
        ("A=1\r\n# ü\r\n".encode(), ""),
        ("A=1\n".encode("utf-16"), "Save it as UTF-8."),
        ("A=1\n# ü\n".encode("cp1252"), "Save it as UTF-8."),
    ],
)
def test_files_of_editors_are_read_or_refused(env: Path, data: bytes, said: str) -> None:
    """The first variable is read after a byte order mark; other encodings are refused."""
    env.write_bytes(data)
    if not said:
        settings.load()
        assert os.environ["A"] == "1"
        return
    with pytest.raises(SystemExit, match=said):
        settings.load()


def test_a_file_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "no", "/bot/.env")

    monkeypatch.setattr(settings, "dotenv_values", refuse)
    with pytest.raises(SystemExit, match="^/bot/.env cannot be read by user .*chmod 640 server"):
        settings.load()


@pytest.mark.parametrize(
    ("mode", "text", "noted"),
    [
        (0o644, "SOME_API_KEY=x", True),
        (0o600, "SOME_API_KEY=x", False),
        (0o640, "SOME_API_KEY=x", False),  # as for a container's group
        (0o777, "SOME_API_KEY=x", False),  # a file system without modes
        (0o644, "SOME_API_KEY=\nSOME_MODEL=y", False),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="files have no modes")
def test_keys_that_every_user_can_read_are_noted(
    env: Path, capsys: pytest.CaptureFixture[str], mode: int, text: str, noted: bool
) -> None:
    env.write_text(text)
    env.chmod(mode)
    settings.require([])
    said = f"Any user of this machine can read the keys: chmod 600 {env}\n"
    assert capsys.readouterr().err == (said if noted else "")


def test_calls_that_daily_takes_need_what_daily_needs() -> None:
    required = [Needs("A", transport="daily")]
    settings.require(required, transports=["webrtc"])
    with pytest.raises(SystemExit, match="Set A in"):
        settings.require(required, transports=["dialin"])


def test_the_number_of_a_colleague_has_a_form(env: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "ASTERISK", env.parent / "none")
    for number in ("+49301234567", "sip:desk@pbx.example.com"):
        os.environ["COLLEAGUE"] = number
        settings.load()
    os.environ["COLLEAGUE"] = "030 1234"
    with pytest.raises(SystemExit, match=r"^COLLEAGUE in .env must be like \+15551234567\.$"):
        settings.load()


def test_pages_need_no_number_of_a_colleague() -> None:
    required = [Needs("COLLEAGUE", transport="telephone")]
    settings.require(required, transports=["webrtc", "daily"])
    for transport in ("twilio", "asterisk"):
        with pytest.raises(SystemExit, match="Set COLLEAGUE in"):
            settings.require(required, transports=["webrtc", transport])


def test_what_tests_give_a_variable() -> None:
    assert Needs("A", in_tests="+15551234567").in_tests == "+15551234567"
