"""Sessions of one bot, one after the other, two at once, and when the bot is told to stop."""

import asyncio
import os
import re
import signal
import subprocess
import time
import wave
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
from phones import TwilioAPI, TwilioCaller, TwilioLine
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
                assert lines == [
                    ("bot", repr(GREETING)),
                    ("user", repr(QUESTION)),
                    ("bot", repr(ANSWER)),
                ]
            names = [path.name for path in recordings.glob("*.wav")]
            assert {name[-40:-4] for name in names if name[-40:-4] in ids} == ids, names
            assert "Call from" not in bot.log  # Twilio tells it only where the TwiML says so
            assert bot.errors() == []

    network.run(calls)


@pytest.mark.parametrize(
    "number",
    [signal.SIGTERM, pytest.param(signal.SIGINT)],
    ids=["SIGTERM", "SIGINT"],
)
def test_a_bot_that_is_told_to_stop_ends_its_calls(
    project: bots.Project, figures: list[str], number: int
) -> None:
    """Both the web call and the telephone call end."""

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


def recorded(path: Path) -> float:
    """The seconds in a WAV file, as its header has them, all of which are there."""
    with wave.open(str(path)) as wav:
        rate, frames = wav.getframerate(), wav.getnframes()
        assert (wav.getnchannels(), wav.getsampwidth()) == (1, 2)
        assert rate in (24000, 8000)  # of a page, of a telephone
        assert len(wav.readframes(frames)) == 2 * frames
        return frames / rate


def test_a_recording_grows_and_outlives_a_bot_that_is_killed(
    project: bots.Project, figures: list[str]
) -> None:
    """It is a WAV file at each moment, and lacks ten seconds at most."""
    earlier = set((project.server / "recordings").glob("*"))

    def new() -> list[Path]:
        return [path for path in (project.server / "recordings").glob("*") if path not in earlier]

    async def calls() -> None:
        async with stand_ins() as services, project.bot(services.env) as bot:
            async with webrtc_client.call(bot.url) as page:
                began = time.monotonic()
                await page.ready()
                await until(lambda: bool(new()), 15)
                [path] = new()
                lengths = set()
                while time.monotonic() < began + 26:
                    lengths.add(recorded(path) // 10)
                    await asyncio.sleep(0.1)
                await bot.die()
                lasted = time.monotonic() - began
            # In tens of seconds. An empty file may be seen, too.
            assert lengths - {0} == {1, 2}, lengths
            kept = recorded(path)
            figures.append(f"killed after {lasted:.1f} s: {kept:.1f} s are recorded")
            assert lasted - 11 < kept < lasted + 1
            assert path.stat().st_size == 44 + 2 * round(24000 * kept)

    network.run(calls)


def test_a_full_disk_ends_recordings_but_no_call(project: bots.Project) -> None:
    """One line says so, and what was written is left."""
    folder = project.server / "recordings"
    folder.mkdir(exist_ok=True)

    async def calls() -> None:
        if not network.fenced():
            pytest.skip("a disk of its own takes a namespace of its own")
        # Room for ten seconds of one of two sessions. It goes with the namespace.
        small = ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", folder]
        subprocess.run(small, check=True)
        async with stand_ins(more=[twilio()]) as services, project.bot(services.env) as bot:
            async with greeted(bot) as (page, phone):
                await until(lambda: "The recording " in bot.log, 15)
                await asyncio.gather(page.say(QUESTION), phone.say(QUESTION))
                await asyncio.gather(page.hear(ANSWER), phone.hear(ANSWER))
            await bot.sessions_end()
            assert "Recording: " not in bot.log
            ends = r"The recording (recordings/.*wav) ends here: .* No space left on device$"
            told = [re.search(ends, line) for line in bot.errors()]
            assert len({match and match[1] for match in told}) == len(told) == 2, bot.errors()
            first, second = sorted(map(recorded, folder.iterdir()))
            assert first < 1 and 10 <= second < 12

    network.run(calls)


def test_a_folder_that_cannot_be_written_ends_no_call(project: bots.Project) -> None:
    folder = project.server / "recordings"
    kept = folder.rename(folder.with_name("kept")) if folder.exists() else None
    folder.write_text("a file")

    async def calls() -> None:
        async with stand_ins() as services, project.bot(services.env) as bot:
            async with webrtc_client.call(bot.url) as page:
                await page.ready()
                await page.hear(GREETING)
            await bot.sessions_end()
            [line] = bot.errors()
            assert re.search(r"The recording recordings/.*wav ends here: .* File exists", line)
            assert "Recording: " not in bot.log

    try:
        network.run(calls)
    finally:
        folder.unlink()
        if kept:
            kept.rename(folder)


FORGED = "+15551234567\n2026-01-01 00:00:00.000 | ERROR    | Nobody said this."


class ForgedLine(TwilioLine):
    parameters = {"from_number": FORGED}


class Forger(TwilioCaller):
    """Somebody whose number is more than a number."""

    carrier = ForgedLine


def test_a_caller_forges_no_line_of_the_log(project: bots.Project) -> None:
    """The number is in quotes, and for those who look for it."""

    async def calls() -> None:
        async with stand_ins(more=[twilio()]) as services, project.bot(services.env) as bot:
            async with socket_clients.call(Forger, bot.url) as phone:
                await phone.hear(GREETING)
            await bot.sessions_end()
            assert re.search(rf"\| DEBUG .*Call from {re.escape(repr(FORGED))}\n", bot.log)
            assert not re.search("(?m)^2026-01-01", bot.log)

    network.run(calls)
