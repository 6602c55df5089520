"""Sessions of one bot: one after the other, two at once, and when the bot is told to stop."""

import asyncio
import os
import re
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import bots
import network
import socket_clients
import speech
import webrtc_client
from caller import until
from conversation import ANSWER, GREETING, KEYS, QUESTION, stand_ins
from phones import TwilioAPI, TwilioCaller
from test_bots import CASCADE, TWILIO
from webrtc_client import WebRTCCaller


@pytest.fixture(scope="module")
def project(vbot: Path) -> bots.Project:
    transports = ["-t", "twilio", "-t", "smallwebrtc"]
    kept = ["--transcription", "--recording"]
    made = bots.installed(vbot, "sessions", *transports, *CASCADE, *kept)
    made.write_env(**KEYS, **TWILIO)
    return made


def twilio() -> TwilioAPI:
    return TwilioAPI(TwilioCaller.account, TWILIO["TWILIO_AUTH_TOKEN"])


def python(bot: bots.Bot) -> int:
    """The process id of the bot: uv is its parent."""
    tasks = Path(f"/proc/{bot.process.pid}/task").iterdir()
    [child] = [int(pid) for task in tasks for pid in (task / "children").read_text().split()]
    return child


def status(pid: int, key: str) -> int:
    """VmRSS in kB, or the number of Threads."""
    [value] = re.findall(rf"(?m)^{key}:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(value)


@asynccontextmanager
async def greeted(bot: bots.Bot) -> AsyncIterator[tuple[WebRTCCaller, TwilioCaller]]:
    """Two people at once, from a browser and by telephone, who have heard the greeting."""
    async with (
        webrtc_client.call(bot.url) as page,
        socket_clients.call(TwilioCaller, bot.url) as phone,
    ):
        await page.ready()
        await asyncio.gather(page.hear(GREETING), phone.hear(GREETING))
        yield page, phone


@pytest.mark.alone
@pytest.mark.variants
def test_ended_sessions_leave_nothing(project: bots.Project, figures: list[str]) -> None:
    """After the tenth, memory and threads stay where they are."""

    async def calls() -> None:
        async with stand_ins() as services, project.bot(services.env) as bot:
            pid, sizes, threads = python(bot), [], []
            for _ in range(40):
                async with webrtc_client.call(bot.url) as page:
                    await page.ready()
                    await until(lambda page=page: speech.loudness(page.heard) > 100, 30)
                await bot.sessions_end()
                await asyncio.sleep(2)  # until the memory is given back
                sizes.append(status(pid, "VmRSS") / 1024)
                threads.append(status(pid, "Threads"))
            figures.append(
                f"sessions: {sizes[0]:.0f} MB and {threads[0]} threads after 1, {sizes[9]:.0f} MB "
                f"and {threads[9]} after 10, {sizes[-1]:.0f} MB and {threads[-1]} after 40"
            )
            assert max(sizes[-5:]) < 1.15 * max(sizes[5:10]), sizes
            assert max(threads[-5:]) <= max(threads[5:10]) + 2, threads
            assert bot.errors() == []

    network.run(calls)


def test_two_sessions_are_told_apart(project: bots.Project) -> None:
    """In the transcript and the recordings, by the session's id."""
    recordings = project.server / "recordings"

    async def calls() -> None:
        async with stand_ins(more=[twilio()]) as services, project.bot(services.env) as bot:
            async with greeted(bot) as (page, phone):
                await asyncio.gather(page.say(QUESTION), phone.say(QUESTION))
                await asyncio.gather(page.hear(ANSWER), phone.hear(ANSWER))
            await bot.sessions_end()
            said = re.findall(r"Transcript ([0-9a-f-]{36}): (\w+): (.*)", bot.log)
            ids = {line[0] for line in said}
            assert len(ids) == 2
            for one in ids:
                lines = [(who, text) for id, who, text in said if id == one]
                assert lines == [("bot", GREETING), ("user", QUESTION), ("bot", ANSWER)]
            names = [path.name for path in recordings.glob("*.wav")]
            assert {name[-40:-4] for name in names if name[-40:-4] in ids} == ids, names
            assert "Call from" not in bot.log  # Twilio tells it only where the TwiML says so
            assert bot.errors() == []

    network.run(calls)


@pytest.mark.parametrize(
    "number",
    [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.variants)],
    ids=["SIGTERM", "SIGINT"],
)
def test_a_bot_that_is_told_to_stop_ends_its_calls(
    project: bots.Project, figures: list[str], number: int
) -> None:
    """The web call as the telephone call."""

    async def calls() -> None:
        async with stand_ins(more=[twilio()]) as services, project.bot(services.env) as bot:
            async with greeted(bot) as (page, phone):
                began = time.monotonic()
                os.kill(python(bot), number)
                await phone.left_alone()
                await asyncio.wait_for(bot.process.wait(), 10)
                figures.append(f"stop: {time.monotonic() - began:.1f} s with two calls")
            assert not any(bot.sessions().values())

    network.run(calls)
