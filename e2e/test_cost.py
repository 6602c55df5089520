"""The CPU time and memory of a session, from which --self-host sets MAX_SESSIONS and resources.

This needs an idle machine, so it runs by hand: e2e/run -m cost
"""

import asyncio
import os
from pathlib import Path

import pytest

import bots
import network
import socket_clients
import webrtc_client
from caller import Caller
from conversation import ANSWER, GREETING, KEYS, QUESTION
from phones import TwilioCaller
from services import Cartesia, Deepgram, OpenAI
from stand_ins import Script
from standins import StandIns

pytestmark = pytest.mark.cost

SERVICES = ["-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia"]
PHONE = {"TWILIO_ACCOUNT_SID": TwilioCaller.account, "TWILIO_AUTH_TOKEN": "a-twilio-token"}
PHONE["PHONE_TOKEN"] = "a-phone-token-that-is-long-enough"
SECONDS = 30  # of conversation that are measured


@pytest.fixture(scope="module")
def hosted(vbot: Path) -> bots.Project:
    options = ["-t", "rtc_small", "-t", "twilio", *SERVICES, "--self-host"]
    return bots.installed(vbot, "cost", *options)


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def megabytes(pid: int) -> float:
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(text.partition("Pss:")[2].split()[0]) / 1024


class Deaf(Script):
    """Takes any long sound for the question, as recognizing it would use CPU time."""

    def heard(self, pcm: bytes, rate: int) -> str:
        return QUESTION if len(pcm) > 1.5 * 2 * rate else ""


async def chat(caller: Caller) -> None:
    """Listen for a while, ask, and so on."""
    while True:
        await asyncio.sleep(6)
        await caller.say(QUESTION)


async def talk(way: str, url: str) -> None:
    if way == "SmallWebRTC":
        async with webrtc_client.call(url) as page:
            await page.ready()
            await chat(page)
    async with socket_clients.call(TwilioCaller, url, f"/{PHONE['PHONE_TOKEN']}") as phone:
        await chat(phone)


@pytest.mark.parametrize("way, most", [("telephone", 8), ("SmallWebRTC", 4)])
def test_what_a_session_costs(
    hosted: bots.Project, figures: list[str], way: str, most: int
) -> None:
    hosted.write_env(**KEYS, **PHONE)
    python = hosted.server / ".venv/bin/python"
    port = bots.free_port()

    async def measure(count: int) -> str:
        deaf = Deepgram(KEYS["DEEPGRAM_API_KEY"], [])
        deaf.script = Deaf()
        services = StandIns(
            deaf,
            OpenAI(KEYS["OPENAI_API_KEY"], GREETING, {QUESTION: ANSWER}),
            Cartesia(KEYS["CARTESIA_API_KEY"]),
        )
        async with services:
            limits = {"MAX_SESSIONS": str(most), "MAX_SESSIONS_PER_ADDRESS": str(most)}
            env = bots.plain_env() | services.env | limits | {"LOG_LEVEL": "DEBUG"}
            command = (python, "self_host.py", "--port", str(port))
            async with bots.running(
                *command, cwd=hosted.server, env=env, port=port, path="/ready", name="cost"
            ) as bot:
                pid, idle = bot.process.pid, megabytes(bot.process.pid)
                calls = []
                for _ in range(count):
                    calls.append(asyncio.create_task(talk(way, bot.url)))
                    await asyncio.sleep(1)
                await asyncio.sleep(8)
                before = cpu_seconds(pid)
                await asyncio.sleep(SECONDS)
                cores, memory = (cpu_seconds(pid) - before) / SECONDS, megabytes(pid)
                assert sum(bot.sessions().values()) == count
                assert len(services.requests("cartesia", "speak")) > 2 * count, "too busy"
                for call in calls:
                    call.cancel()
                await asyncio.gather(*calls, return_exceptions=True)
                return f"{way}, {count}: {cores:.2f} cores, {memory:.0f} MB ({idle:.0f} MB idle)"

    for count in (1, most):
        figures.append(network.run(lambda count=count: measure(count)))
