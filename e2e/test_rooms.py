"""Calls over LiveKit as README.md describes them, with its server but without its SIP service."""

import asyncio
from pathlib import Path

import aiohttp
import pytest

import bots
import livekit_server
import network
import speech
from caller import EAR
from conversation import ANSWER, GREETING, KEYS, QUESTION, stand_ins

CASCADE = ("-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia")
CALLER = Path(__file__).parent / "lib/sip_caller.py"
NUMBER = "+493012345678"
READY = """@conversation.event_handler("on_ready")  # once, when the person can hear the bot
    async def on_ready(conversation):
"""
# What DEPLOY.md says: it greets whoever comes, and the number is in the identity.
CONNECTED = """@transport.event_handler("on_client_connected")
    async def on_client_connected(transport, client):
        logger.info(f"Number {client['id'].removeprefix('sip_')}")
"""


@pytest.fixture(scope="module")
def project(vbot: Path) -> bots.Project:
    livekit_server.build()
    project = bots.installed(vbot, "rooms", "-t", "livekit", *CASCADE, "--self-host")
    project.write_env(**KEYS, **livekit_server.KEYS, LIVEKIT_ROOM_NAME="calls")
    code = (project.server / "bot.py").read_text()
    assert code.count(READY) == 1
    greets = code.replace(READY, CONNECTED)
    if "from loguru import logger" not in greets:
        greets = greets.replace("from pipecat.", "from loguru import logger\nfrom pipecat.", 1)
    (project.server / "greets.py").write_text(greets)
    return project


@pytest.mark.parametrize("script", ["bot.py", "greets.py"])
def test_a_caller_talks_with_the_bot_in_a_room(
    project: bots.Project, script: str, tmp_path: Path
) -> None:
    said, heard = tmp_path / "said.pcm", tmp_path / "heard.pcm"
    silence = bytes(2 * EAR * 5)  # while the bot greets
    said.write_bytes(silence + speech.speak(QUESTION, EAR))
    assert EAR == 16000

    async def call() -> None:
        async with (
            stand_ins() as services,
            livekit_server.running(project),
            project.bot(services.env, "-t", "livekit", script=script) as bot,
            aiohttp.ClientSession() as http,
        ):
            async with http.post(f"{bot.url}/start", json={"transport": "livekit"}) as response:
                assert response.ok, await response.text()
            command = (project.server / ".venv/bin/python", CALLER, "calls", NUMBER, said, heard)
            caller = await asyncio.create_subprocess_exec(
                *command, "20", env=bots.plain_env() | livekit_server.KEYS
            )
            try:
                async with asyncio.timeout(60):
                    assert await caller.wait() == 0
            finally:
                if caller.returncode is None:
                    caller.kill()
            pcm = heard.read_bytes()
            assert speech.hear(pcm, EAR, [ANSWER]), bot.log
            is_greeted = bool(speech.hear(pcm, EAR, [GREETING]))
            assert is_greeted == (script == "greets.py")
            assert (f"Number {NUMBER}" in bot.log) == is_greeted
            await bot.sessions_end()  # as the caller has hung up
            assert bot.errors() == []

    network.run(call)
