"""With DEPLOY.md's commands, a bot runs on a machine without the internet.

The commands also make its image; dockerfiles.py runs the steps of the Dockerfile.
"""

import asyncio
import contextlib
import os
import re
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path

from playwright.async_api import expect

import bots
import dockerfiles
import network
from clients import chromium, node_env, recording
from conversation import ANSWER, GREETING, QUESTION, converse
from every_bot import new_python
from services import OpenAI, OpenAISpeech, OpenAITranscription
from standins import own_server

OPTIONS = (
    *("--bot-type", "web", "--transport", "smallwebrtc", "--client-framework", "vanilla"),
    *("--mode", "cascade", "--stt", "openai", "--llm", "openai", "--tts", "openai"),
    "--self-host",
)
NO_KEY = "none"  # what bot.py sends where .env has no key


def commands(document: Path, python: Path) -> list[str]:
    """The blocks of commands in "Without the internet", for the Python of this machine."""
    section = re.search(r"(?ms)^## Without the internet$.*?(?=^## )", document.read_text())
    assert section, f"{document} has no such section"
    asked = "import sys; print('%d.%d' % sys.version_info[:2])"
    version = bots.must(python, "-c", asked, cwd=document.parent).strip()
    blocks: list[str] = re.findall(r"(?ms)^```sh\n(.*?)\n```$", section[0])
    return [re.sub(r"(python ?)3\.12", rf"\g<1>{version}", b) for b in blocks]


async def build_image(carried: bots.Project, env: Mapping[str, str]) -> None:
    """From the wheels alone; they are not in it."""
    dockerfile, to = carried.folder / "deploy/Dockerfile", carried.folder / "image"
    image = await asyncio.to_thread(dockerfiles.build, dockerfile, carried.server, to, env)
    assert not list(image.root.rglob("*.whl"))
    assert list((image.folder / ".venv").glob("lib/*/site-packages/pipecat/__pycache__/*.pyc"))
    python = image.folder / ".venv/bin/python"
    inside = {**env, **image.env, "OPENAI_API_KEY": NO_KEY}
    await asyncio.to_thread(
        bots.must, python, "-c", "import bot, self_host", cwd=image.folder, env=inside
    )
    shutil.rmtree(to)


@contextlib.asynccontextmanager
async def running(
    block: str, port: int, folder: Path, env: Mapping[str, str], options: str, path: str
) -> AsyncIterator[bots.Bot]:
    """Run the commands of the block; the last one starts the bot."""
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
    python = new_python()
    path = f"{python.parent}{os.pathsep}{node_env()['PATH']}"
    download, server, client = commands(made.folder / "DEPLOY.md", python)
    build = "docker load --input base.tar.gz\ndocker build -f deploy/Dockerfile -t talker server\n"
    assert build in (made.folder / "deploy/README.md").read_text()
    bots.must("bash", "-ec", download, cwd=made.folder, env=node_env() | {"PATH": path})

    left = shutil.ignore_patterns(".venv")
    carried = bots.Project(
        shutil.copytree(made.folder, folder / "carried", symlinks=True, ignore=left), made.report
    )
    # A home that has never seen a package.
    env = bots.plain_env() | {"HOME": str(tmp_path), "PATH": path}

    async def conversation() -> None:
        listens = OpenAITranscription(NO_KEY, [QUESTION, GREETING, ANSWER])
        thinks = OpenAI(NO_KEY, GREETING, {QUESTION: ANSWER})
        speaks = OpenAISpeech(NO_KEY)
        async with AsyncExitStack() as stack:
            enter = stack.enter_async_context
            async with network.silence():
                await build_image(carried, env)
                carried.write_env(
                    OPENAI_STT_BASE_URL=await enter(own_server(listens)),
                    OPENAI_BASE_URL=await enter(own_server(thinks)),
                    OPENAI_TTS_BASE_URL=await enter(own_server(speaks)),
                )
                port = bots.free_port()
                bot = await enter(running(server, port, carried.folder, env, "--port", "/"))
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
        assert [said["input"] for said in speaks.requests] == [GREETING, ANSWER] * 2

    network.run(conversation, timeout=300)
