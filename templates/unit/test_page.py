"""The bot's page: how it is served, and who may show it in a frame."""

import sys
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from hosting_fakes import served
from vbot import page
from vbot.hosting import smallwebrtc


@pytest.fixture(autouse=True)
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("PIPECAT_ALLOWED_ORIGINS", raising=False)
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.html")
    return page.PAGE


def test_the_page_is_served_if_there_is_one(made: Path) -> None:
    client, _, _ = served(smallwebrtc.router)
    assert client.get("/").status_code == 404
    made.write_text("A page")
    assert client.get("/").text == "A page"


@pytest.mark.parametrize(
    ("allowed", "frames"),
    [
        ("", "'self'"),
        (
            "https://a.example, http://localhost:3000",
            "'self' https://a.example http://localhost:3000",
        ),
        ("*", "'self' *"),
        ("https://a.example;script-src,null", "'self'"),
    ],
)
def test_no_other_origin_shows_it_in_a_frame(
    allowed: str, frames: str, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIPECAT_ALLOWED_ORIGINS", allowed)
    made.write_text("A page")
    head = served(smallwebrtc.router)[0].get("/").headers
    assert head["content-security-policy"] == f"frame-ancestors {frames}"
    assert head["cache-control"] == "no-cache"


def test_so_does_the_runner_of_the_framework(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from vbot import local

    async def bot(runner_args: object) -> None:
        pass

    for name in ("end_quietly_until_started", "log_plainly"):
        monkeypatch.setattr(local, name, lambda app: None)
    monkeypatch.setattr(sys.modules["__main__"], "bot", None, raising=False)
    made.write_text("A page")
    app = FastAPI()
    local.prepare(app, bot)
    head = TestClient(app).get("/").headers
    assert head["content-security-policy"] == "frame-ancestors 'self'"
