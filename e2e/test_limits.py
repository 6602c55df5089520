"""A stranger's page cannot spend without bound; templates/unit/test_limits.py has other cases."""

import asyncio
import base64
import json
from typing import Any

import pytest

import bots
import network
import webrtc_client
from caller import Caller, until
from conversation import KEYS, QUESTION, stand_ins
from test_faults import told_on

OFF = {"run_immediately": True, "audio_response": False}
LONG = "x" * 3900
PICTURE = base64.b64encode(b"\x89PNG" + b"\0" * 3000).decode()


def send(page: Caller, kind: str, **data: Any) -> None:
    page.send_text(json.dumps({"label": "rtvi-ai", "type": kind, "id": "1", "data": data}))


@pytest.mark.quick
def test_a_page_that_floods_the_bot(quickstart: bots.Project) -> None:
    """The model is asked at most so often, with at most so much, and the page is told."""
    quickstart.write_env(**KEYS)

    async def conversation() -> None:
        async with (
            stand_ins((QUESTION, LONG)) as services,
            quickstart.bot(services.env) as bot,
            webrtc_client.call(bot.url) as page,
        ):
            await page.ready()
            await until(lambda: bool(services.requests("cartesia", "speak")), 30)
            for text in ("x" * 20_000, LONG):
                for _ in range(40):
                    send(page, "send-text", content=text, options=OFF)
                    await asyncio.sleep(0.1)
            source = {"type": "bytes", "bytes": PICTURE}
            file = {"format": "image/png", "source": source}
            send(page, "send-file", content="?", file=file, options=OFF)
            source = {"type": "url", "url": "https://example.com/file.pdf"}
            file = {"format": "application/pdf", "source": source}
            send(page, "send-file", content="?", file=file, options=OFF)
            send(page, "raw-audio", base64Audio=PICTURE, sampleRate=10**9, numChannels=1)
            await until(lambda: len(told_on(page)) >= 53, 10)
            problems = told_on(page)
            assert len(problems) == 53, problems
            assert len([p for p in problems if "MAX_MESSAGE_CHARS" in p]) == 40
            assert len([p for p in problems if "MAX_MESSAGES_PER_MINUTE" in p]) == 10
            assert len([p for p in problems if "FILES" in p]) == 2
            assert "sample rate" in problems[-1]
            chats = services.requests("openai", "chat")
            assert len(chats) <= 31
            assert max(len(str(chat["messages"])) for chat in chats) < 120_000
            assert "example.com" not in str(services.names_asked())
            assert bot.errors() == []

    network.run(conversation)
