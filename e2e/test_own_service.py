"""A service of one's own: the example of docs/own-services.md, from its files to a conversation."""

import io
import re
import shutil
import wave
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

import bots
import network
import speech
from conversation import ANSWER, GREETING, KEYS, QUESTION, converse
from services import Cartesia, OpenAI
from standins import StandIns, WebSocketService, own_server

DOCUMENT = Path(__file__).parent.parent / "docs" / "own-services.md"
FOLDER = bots.PROJECTS / "own-service"
FILE = re.compile(r"^`([\w./-]+)`[^\n]*:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WHEELS = {"UV_FIND_LINKS": "../../wheels"}
DEV = ("uv", "run", "--group", "dev")
OPENAI, CARTESIA = KEYS["OPENAI_API_KEY"], KEYS["CARTESIA_API_KEY"]


class AcmeSpeech(WebSocketService):
    """A WAV file comes, its text goes."""

    name, host = "acme", "127.0.0.1"

    def opened(self, request: web.Request) -> None:
        pass

    async def received(self, ws: web.WebSocketResponse, session: None, message: Any) -> None:
        self.expect(isinstance(message, bytes), f"no audio: {message}")
        with wave.open(io.BytesIO(message)) as sound:
            pcm = sound.readframes(sound.getnframes())
            heard = " ".join(speech.hear(pcm, sound.getframerate(), [QUESTION, GREETING, ANSWER]))
        self.note("transcribe", heard=heard)
        await ws.send_json({"text": heard})


@pytest.fixture(scope="module")
def project(vbot: Path) -> bots.Project:
    """The project from its files and commands, except the last command, which starts the bot."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    _, section, _ = re.split("<!-- /?own service -->", DOCUMENT.read_text())
    files = dict(FILE.findall(section))
    assert len(files) == 3, sorted(files)
    for name, text in files.items():
        (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / name).write_text(text)
    commands = re.search(r"(?ms)^```sh\n(.*)\nuv run bot.py\n```$", section)
    assert commands and "export UV_FIND_LINKS=../../wheels" in commands[1]
    env = bots.networked_env()
    env["PATH"] = f"{vbot.parent}:{env['PATH']}"
    # Not the package of that version that an earlier run left in uv's cache.
    sync = "uv sync --group dev --refresh-package acme-speech"
    bots.must("bash", "-ec", f"{commands[1]}\n{sync}", cwd=FOLDER, env=env)
    return bots.Project(FOLDER / "my-bot", {})


def test_the_example_passes_the_linter_and_the_type_check(project: bots.Project) -> None:
    """The bot and the file of the service pass, as with vbot's own services."""
    env = bots.networked_env() | WHEELS
    sources = (project.server / "bot.py", FOLDER / "services", FOLDER / "acme-speech")
    config = ("--no-cache", "--config", project.server / "pyproject.toml")
    bots.must(*DEV, "ruff", "check", *config, *sources, cwd=project.server, env=env)
    bots.must(*DEV, "ruff", "format", "--check", *config, *sources, cwd=project.server, env=env)
    said = bots.must(*DEV, "pyright", *sources, cwd=project.server, env=env)
    assert "0 errors, 0 warnings, 0 informations" in said


def test_a_person_talks_with_a_bot_that_has_a_service_of_ones_own(project: bots.Project) -> None:
    async def conversation() -> None:
        acme = AcmeSpeech()
        thinks, speaks = OpenAI(OPENAI, GREETING, {QUESTION: ANSWER}), Cartesia(CARTESIA)
        async with own_server(acme) as address, StandIns(thinks, speaks) as services:
            project.write_env(
                ACME_STT_URL=address.replace("http", "ws"),
                OPENAI_API_KEY=OPENAI,
                CARTESIA_API_KEY=CARTESIA,
            )
            async with project.bot(services.env | WHEELS) as bot:
                await converse(bot)
                assert bot.errors() == []
            assert services.names_asked() == services.hosts
            assert [said["heard"] for _, said in acme.notes] == [QUESTION]

    network.run(conversation)
