"""A person who leaves frees their place within seconds, whenever they leave."""

import asyncio
from pathlib import Path

import aiohttp
import pytest

import bots
import network
import socket_clients
import speech
import webrtc_client
from caller import until
from conversation import KEYS, QUESTION, stand_ins
from phones import TwilioAPI, TwilioCaller
from socket_clients import SocketCaller, WebSocketCaller
from test_bots import CASCADE
from test_self_host import PHONE, TOKEN
from webrtc_client import WebRTCCaller

FREE_WITHIN = 10  # seconds


@pytest.fixture(scope="module")
def project(vbot: Path) -> bots.Project:
    made = bots.installed(vbot, "leaving", "-t", "smallwebrtc", *CASCADE, "--self-host")
    made.write_env(**KEYS)
    return made


@pytest.fixture(scope="module")
def line(vbot: Path) -> bots.Project:
    """A bot with telephones and a socket for web clients."""
    transports = ("-t", "twilio", "-t", "plivo", "-t", "websocket")
    made = bots.installed(vbot, "leaving_line", *transports, *CASCADE, "--self-host")
    made.write_env(**KEYS, **PHONE)
    return made


async def greeted(page: WebRTCCaller) -> None:
    """Wait until the bot is heard."""
    await page.ready()
    await until(lambda: speech.loudness(page.heard) > 100, 60)
    assert speech.loudness(page.heard) > 100


async def free_after(bot: bots.Bot) -> float:
    """Wait until nobody has a place, and return the seconds."""
    now = asyncio.get_running_loop().time
    began = now()
    # bot.py says so once the pipeline is built.
    await asyncio.sleep(0 if bot.probes else 4)
    while await bot.running():
        assert now() - began < FREE_WITHIN, f"a session goes on: see {bot.log_file}"
        await asyncio.sleep(0.2)
    return now() - began


@pytest.mark.parametrize("script", ["bot.py", "self_host.py"])
def test_whoever_leaves_early_frees_the_place(
    project: bots.Project, script: str, figures: list[str]
) -> None:
    """Immediately, or while the pipeline is built. Then the bot serves the next person."""

    async def visits() -> None:
        async with stand_ins() as services, project.bot(services.env, script=script) as bot:
            took: list[float] = []
            for seconds in (0, 0.1, 0.5) * 2:
                async with webrtc_client.call(bot.url):
                    await asyncio.sleep(seconds)
                took.append(await free_after(bot))
            figures.append(f"leaving, {script}: {', '.join(f'{t:.1f}' for t in took)} s")
            if bot.probes:
                shown = await bot.metrics()
                assert shown['bot_sessions_ended_total{why="left"}'] == len(took)
            async with webrtc_client.call(bot.url) as page:
                await greeted(page)
            assert bot.errors() == []

    network.run(visits)


@pytest.mark.parametrize("kind", [TwilioCaller, WebSocketCaller])
def test_a_caller_who_hangs_up_early_frees_the_line(
    line: bots.Project, kind: type[SocketCaller], figures: list[str]
) -> None:
    """With or without the last message of a carrier."""

    async def path(bot: bots.Bot) -> str:
        if kind is TwilioCaller:
            return f"/{TOKEN}"
        async with aiohttp.ClientSession() as http, http.post(f"{bot.url}/start", json={}) as begun:
            return f"/{(await begun.json())['sessionId']}"

    async def calls() -> None:
        api = TwilioAPI(PHONE["TWILIO_ACCOUNT_SID"], PHONE["TWILIO_AUTH_TOKEN"])
        fast = {"STARTS_PER_MINUTE": "100"}  # calls are over within seconds
        async with (
            stand_ins(more=[api]) as services,
            line.bot(services.env | fast, script="self_host.py") as bot,
        ):
            took: list[float] = []
            for seconds in (0, 0.1, 0.5):
                for last_message in (True, False):
                    async with socket_clients.call(kind, bot.url, await path(bot)) as caller:
                        await asyncio.sleep(seconds)
                        caller.over = not last_message
                    took.append(await free_after(bot))
                    api.notes.clear()  # it ends one call
            figures.append(f"leaving, {kind.__name__}: {', '.join(f'{t:.1f}' for t in took)} s")
            assert bot.errors() == []

    network.run(calls)


@pytest.mark.parametrize("script", ["bot.py", "self_host.py"])
def test_whoever_is_silent_or_reloads_is_served(project: bots.Project, script: str) -> None:
    """A minute of silence ends nothing; each of three reloads is greeted."""

    async def visits() -> None:
        limits = {"MAX_SESSIONS": "3"}
        async with (
            stand_ins() as services,
            project.bot({**services.env, **limits}, script=script) as bot,
        ):
            async with webrtc_client.call(bot.url) as page:
                await greeted(page)
                for _ in range(3):
                    async with webrtc_client.call(bot.url) as reloaded:
                        await greeted(reloaded)
                await asyncio.sleep(60)
                await page.say(QUESTION)
                await page.receive("user-transcription", lambda said: said["text"] == QUESTION)
            await free_after(bot)
            assert bot.errors() == []

    network.run(visits)
