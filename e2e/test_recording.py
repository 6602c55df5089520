"""Recordings: of whom they are, when the bot says so, who can read them, and how long they stay."""

import asyncio
import os
import re
import time
import wave
from pathlib import Path

import pytest

import bots
import network
import socket_clients
import speech
import webrtc_client
from caller import EAR, until
from conversation import ANSWER, GREETING, KEYS, QUESTION, stand_ins
from phones import TwilioAPI, TwilioCaller
from services import Call, Cartesia, Deepgram, OpenAI
from standins import StandIns
from test_bots import CASCADE, RECORDED, TWILIO

YES = "Yes, you may record what we say."
THANKS = "Thank you, and what would you like to know?"
PHONE = {"PHONE_TOKEN": "f00d" * 16}
DAY = 24 * 3600  # seconds
OLD = 31 * DAY


@pytest.fixture(scope="module")
def made(vbot: Path) -> bots.Project:
    options = ["-t", "twilio", "-t", "smallwebrtc", *CASCADE, "--recording", "--self-host"]
    return bots.installed(vbot, "recording", *options)


@pytest.fixture
def project(made: bots.Project) -> bots.Project:
    """Without recordings."""
    folder = made.server / "recordings"
    if folder.exists():
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
    return made


def files(project: bots.Project) -> list[Path]:
    return sorted((project.server / "recordings").glob("*"))


def heard_in(path: Path, *sentences: str) -> list[str]:
    with wave.open(str(path)) as wav:
        return speech.hear(wav.readframes(wav.getnframes()), wav.getframerate(), [*sentences])


def twilio() -> TwilioAPI:
    return TwilioAPI(TwilioCaller.account, TWILIO["TWILIO_AUTH_TOKEN"])


def asked() -> StandIns:
    """The model starts the recording for who says yes."""
    answers = {YES: Call("start_recording", {}, THANKS), QUESTION: ANSWER}
    return StandIns(
        Deepgram(KEYS["DEEPGRAM_API_KEY"], [*answers, GREETING, ANSWER, THANKS, RECORDED]),
        OpenAI(KEYS["OPENAI_API_KEY"], GREETING, answers),
        Cartesia(KEYS["CARTESIA_API_KEY"]),
        twilio(),
    )


def test_a_person_who_agrees_is_recorded_from_then_on(project: bots.Project) -> None:
    """Nobody else is recorded, by telephone or on a page. The bot says so only then."""
    project.write_env(**KEYS, **TWILIO, RECORD="ask")

    async def calls() -> None:
        async with asked() as services, project.bot(services.env) as bot:
            async with webrtc_client.call(bot.url) as page:
                await page.ready()
                await page.hear(GREETING)
            await bot.sessions_end()
            assert files(project) == []
            async with socket_clients.call(TwilioCaller, bot.url) as phone:
                await phone.hear(GREETING)
                await asyncio.sleep(10.5)  # a recording is written every ten seconds
                assert files(project) == []
                assert speech.hear(phone.sound(), EAR, [RECORDED], phone.tempos) == []
                await phone.say(YES)
                await phone.hear(THANKS)
                said = [GREETING, RECORDED, THANKS]
                assert speech.hear(phone.sound(), EAR, said[::-1], phone.tempos) == said
                await phone.say(QUESTION)
                await phone.hear(ANSWER)
            await bot.sessions_end()
            first, *_ = services.requests("openai", "chat")
            assert "Begin by asking whether" in str(first)
            assert bot.errors() == []

    network.run(calls)
    [path] = files(project)
    assert path.stat().st_mode & 0o7777 == 0o600
    assert path.parent.stat().st_mode & 0o7777 == 0o700
    assert heard_in(path, GREETING, YES, ANSWER, QUESTION, THANKS, RECORDED) == [
        RECORDED,
        THANKS,
        QUESTION,
        ANSWER,
    ]


def test_a_person_is_told_before_being_recorded(project: bots.Project) -> None:
    """That sentence cannot be interrupted, however early the person speaks."""
    project.write_env(**KEYS, **TWILIO, RECORD="")

    async def calls() -> None:
        async with stand_ins(more=[twilio()]) as services, project.bot(services.env) as bot:
            async with socket_clients.call(TwilioCaller, bot.url) as phone:
                await until(lambda: speech.loudness(phone.sound()) > 100, 20)
                await phone.say(QUESTION)
                await phone.hear(ANSWER)
                assert speech.hear(phone.sound(), EAR, [ANSWER, RECORDED], phone.tempos) == [
                    RECORDED,
                    ANSWER,
                ]
            await bot.sessions_end()
            assert bot.errors() == []

    network.run(calls)
    [path] = files(project)
    assert heard_in(path, ANSWER, RECORDED) == [RECORDED, ANSWER]
    assert path.stat().st_mode & 0o7777 == 0o600


def test_nothing_is_recorded_nor_said_of_it(project: bots.Project) -> None:
    project.write_env(**KEYS, **TWILIO, RECORD="never")

    async def calls() -> None:
        async with stand_ins() as services, project.bot(services.env) as bot:
            async with webrtc_client.call(bot.url) as page:
                await page.ready()
                await page.hear(GREETING)
                assert speech.hear(page.sound(), EAR, [RECORDED], page.tempos) == []
            await bot.sessions_end()

    network.run(calls)
    assert files(project) == []


@pytest.mark.parametrize("script", ["bot.py", "self_host.py"])
def test_a_wrong_value_stops_the_program(project: bots.Project, script: str) -> None:
    """Where it cannot stop the program, as in the cloud, it does not lead to a recording."""
    wrong = {"RECORD": "Never", "RECORDINGS_KEPT_DAYS": "0"}
    project.write_env(**KEYS, **TWILIO, **PHONE, **wrong)
    done = bots.run("uv", "run", script, cwd=project.server, env=bots.plain_env())
    assert done.returncode == 1
    assert done.stderr.endswith(
        "Set RECORD in .env to always, ask or never: it is 'Never'.\n"
        "Set RECORDINGS_KEPT_DAYS in .env to a number of days: it is '0'.\n"
    )
    code = "import vbot; from vbot import recording; print(recording.mode())"
    said = bots.must("uv", "run", "python", "-c", code, cwd=project.server, env=bots.plain_env())
    assert said == "never\n"


def kept_and_deleted(folder: Path) -> tuple[set[str], set[str]]:
    """A file of each kind, by their names."""
    recording = "20260101-120000-000000-0f3c9a4e-1d5b-4e6f-9a7b-2c3d4e5f6a7b.wav"
    old = {recording, recording.replace("-0f3c", "-10-1-2-3.0f3c")}
    strange = {"20260101.wav", "holiday.wav", "notes.txt", f"{recording}.bak", f"x{recording}"}
    young = {recording.replace("120000", "130000")}
    folder.mkdir(exist_ok=True)
    for name in old | strange | young:
        (folder / name).write_bytes(b"RIFF")
        written = time.time() - (OLD if name not in young else OLD - 2 * DAY)
        os.utime(folder / name, (written, written))
    return strange | young, old


@pytest.mark.parametrize("script", ["bot.py", "self_host.py"])
def test_a_bot_deletes_old_recordings_at_its_start(project: bots.Project, script: str) -> None:
    folder = project.server / "recordings"
    kept, old = kept_and_deleted(folder)

    async def start() -> bots.Bot:
        async with project.bot({}, script=script) as bot:
            await until(lambda: bot.log.count("Deleted after 30 days") == len(old), 10)
            assert bot.errors() == []
        return bot

    project.write_env(**KEYS, **TWILIO, **PHONE)
    network.run(lambda: started(project, script))
    assert {path.name for path in folder.iterdir()} == kept | old  # nobody says how long
    project.write_env(**KEYS, **TWILIO, **PHONE, RECORDINGS_KEPT_DAYS="30")
    deleted = re.findall(r"Deleted after 30 days: recordings/(\S+)", network.run(start).log)
    assert set(deleted) == old
    assert {path.name for path in folder.iterdir()} == kept


async def started(project: bots.Project, script: str) -> None:
    async with project.bot({}, script=script):
        pass


DAILY = """
import os, threading
from pathlib import Path
from vbot import recording

os.environ["RECORDINGS_KEPT_DAYS"] = "30"
old, naps, over = Path("recordings/20260101-120000-000000-id.wav"), [], threading.Event()

def sleep(seconds):
    print(seconds, old.exists(), flush=True)
    naps.append(seconds)
    if len(naps) == 3:
        over.set()
        threading.Event().wait()
    old.touch()
    os.utime(old, (0, 0))

recording.time.sleep = sleep
recording.delete_old_daily()
assert over.wait(10)
"""


def test_a_bot_deletes_old_recordings_once_a_day(project: bots.Project) -> None:
    (project.server / "recordings").mkdir()
    said = bots.must("uv", "run", "python", "-c", DAILY, cwd=project.server, env=bots.plain_env())
    assert said == "86400 False\n" * 3
