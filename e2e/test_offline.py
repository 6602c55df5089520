"""Without the internet: DEPLOY.md's commands make a bot to talk to on a machine that has none."""

import asyncio
import contextlib
import re
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from playwright.async_api import expect

import bots
import network
from clients import chromium, node_env, recording
from conversation import ANSWER, GREETING, QUESTION, converse
from services import OpenAI, OpenAISpeech, OpenAITranscription
from standins import own_server

OPTIONS = (
    *("--bot-type", "web", "--transport", "smallwebrtc", "--client-framework", "vanilla"),
    *("--mode", "cascade", "--stt", "openai", "--llm", "openai", "--tts", "openai"),
)
NO_KEY = "none"  # what bot.py sends where .env has no key

pytestmark = pytest.mark.variants


def commands(document: Path) -> list[str]:
    """The blocks of commands in "Without the internet"."""
    section = re.search(r"(?ms)^## Without the internet$.*?(?=^## )", document.read_text())
    assert section, f"{document} has no such section"
    return re.findall(r"(?ms)^```sh\n(.*?)\n```$", section[0])


@contextlib.asynccontextmanager
async def running(
    block: str, port: int, folder: Path, env: Mapping[str, str], options: str, path: str
) -> AsyncIterator[bots.Bot]:
    """What the last command of the block starts, after the others."""
    *first, last = block.splitlines()
    await asyncio.to_thread(bots.must, "bash", "-ec", "\n".join(first), cwd=folder, env=env)
    again = [line for line in first if line.startswith(("cd ", "export "))]
    script = "\n".join((*again, f"exec {last} {options} {port}"))
    name = f"{folder.name}-{last.split()[0]}"
    started = bots.running(
        "bash", "-ec", script, cwd=folder, env=env, port=port, path=path, name=name
    )
    async with started as bot:
        yield bot


def test_a_conversation_without_the_internet(vbot: Path, tmp_path: Path) -> None:
    folder = bots.PROJECTS / "offline"

    async def make() -> bots.Project:
        async with network.silence():
            return await asyncio.to_thread(bots.generate, vbot, folder, "talker", *OPTIONS)

    made = network.run(make)
    download, server, client = commands(made.folder / "DEPLOY.md")
    # Not every registry has the linter for every platform, and `npm ci` insists on all of them.
    npm = node_env() | {"npm_config_omit_lockfile_registry_resolved": "false"}
    bots.must("npm", "pkg", "delete", "devDependencies.oxlint", cwd=made.folder / "client", env=npm)
    bots.must("bash", "-ec", download, cwd=made.folder, env=npm)

    left = shutil.ignore_patterns(".venv", "node_modules")
    carried = bots.Project(
        shutil.copytree(made.folder, folder / "carried", ignore=left), made.report
    )
    env = bots.plain_env() | {  # a home and caches that have never seen a package
        "HOME": str(tmp_path),
        "PATH": node_env()["PATH"],
        "UV_CACHE_DIR": str(folder / "uv-cache"),
    }

    async def conversation() -> None:
        listens = OpenAITranscription(NO_KEY, [QUESTION, GREETING, ANSWER])
        thinks = OpenAI(NO_KEY, GREETING, {QUESTION: ANSWER})
        speaks = OpenAISpeech(NO_KEY)
        async with AsyncExitStack() as stack:
            enter = stack.enter_async_context
            async with network.silence():
                carried.write_env(
                    OPENAI_STT_BASE_URL=await enter(own_server(listens)),
                    OPENAI_BASE_URL=await enter(own_server(thinks)),
                    OPENAI_TTS_BASE_URL=await enter(own_server(speaks)),
                )
                port = bots.free_port()
                bot = await enter(running(server, port, carried.folder, env, "--port", "/status"))
                port, there = bots.free_port(), env | {"BOT_URL": bot.url}
                options = "-- --strictPort --port"
                page = await enter(running(client, port, carried.folder, there, options, "/"))
                await converse(bot)
            async with network.silence(browser=True):
                browser = await enter(chromium(recording(tmp_path / "person.wav")))
                async with browser.visit(page.url, "microphone") as visit:
                    await visit.connect()
                    for speaker, text in (("Bot", GREETING), ("You", QUESTION), ("Bot", ANSWER)):
                        await expect(visit.entries(speaker, text)).to_have_count(1, timeout=40_000)
            assert bot.errors() == []
        assert [said["input"] for _, said in speaks.requests] == [GREETING, ANSWER] * 2

    network.run(conversation, timeout=300)
