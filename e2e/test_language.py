"""A bot with a language tells it to each of its services, in the browser and on the telephone."""

import re
from pathlib import Path

import bots
import network
import socket_clients
from conversation import ANSWER, GREETING, KEYS, QUESTION, converse, stand_ins
from phones import TwilioCaller

TAG = "de"
SERVICES = ["-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia"]
ACCOUNT = {"TWILIO_ACCOUNT_SID": TwilioCaller.account, "TWILIO_AUTH_TOKEN": "a-twilio-token"}


def test_each_service_is_told_the_language(vbot: Path) -> None:
    """What is said is English: what the stand-ins understand has nothing to do with it."""
    options = ["-t", "smallwebrtc", "-t", "twilio", *SERVICES, "--language", TAG]
    project = bots.installed(vbot, "language", *options)
    project.write_env(**KEYS, **ACCOUNT)

    async def conversations() -> None:
        async with stand_ins() as services, project.bot(services.env) as bot:
            await converse(bot)
            async with socket_clients.call(TwilioCaller, bot.url) as caller:
                await caller.hear(GREETING)
                await caller.say(QUESTION)
                await caller.hear(ANSWER)
            await bot.sessions_end()

            listens = services.requests("deepgram", "listen")
            assert [asked["language"] for asked in listens] == [TAG] * 2
            spoken = services.requests("cartesia", "speak")
            assert [said["transcript"].strip() for said in spoken] == [GREETING, ANSWER] * 2
            assert {said["language"] for said in spoken} == {TAG}
            chats = services.requests("openai", "chat")
            assert len(chats) == 4
            for chat in chats:
                assert re.search(rf"\btag {TAG}\b", chat["messages"][0]["content"])
            assert bot.errors() == []

    network.run(conversations)
