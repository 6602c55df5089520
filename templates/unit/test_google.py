"""vbot/google.py: a wrong key is named before anybody talks to the bot."""

from pathlib import Path

import pytest

google = pytest.importorskip("vbot.google", exc_type=ImportError)


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GOOGLE_CREDENTIALS_JSON", "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("text", ["{", "{}", "a-key"])
def test_a_wrong_key_is_named(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_CREDENTIALS_JSON", text)
    [line] = google.problems()
    assert line.startswith("Set GOOGLE_CREDENTIALS_JSON in .env, as .env.example says: ")


def test_a_missing_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "key.json"))
    [line] = google.problems()
    assert line.startswith("Set GOOGLE_APPLICATION_CREDENTIALS in .env, as ")


def test_this_machines_login_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(google.google.auth, "default", lambda: ("a login", "a project"))
    assert google.problems() == []
