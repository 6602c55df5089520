"""With RECORD=ask, only somebody who agrees is recorded."""

import wave
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import cast
from sentences import SENTENCES
from vbot.testing import Bot, Services, Tester
from vbot.testing.fixtures import program
from vbot.testing.sound import loudness


@pytest.fixture
async def asking_bot(services: Services, tmp_path: Path) -> AsyncIterator[Bot]:
    async with program("bot.py", "PORT/status", services, tmp_path, RECORD="ask") as bot:
        yield bot


async def test_who_agrees_is_recorded(asking_bot: Bot, services: Services, tmp_path: Path) -> None:
    script, folder = services.script, tmp_path / "recordings"
    script.when("Please do not.", "As you like.")
    script.when("Yes, you may.", "Thank you.", call="start_recording")
    async with Tester.connected(asking_bot, script) as tester:
        await tester.hears(script.greeting)
        await tester.speaks("Please do not.")
        await tester.hears("As you like.")
        assert "start_recording" in script.tools
    await asking_bot.ends_session()
    assert not [*folder.glob("*")]

    asking_bot.begin_test()
    async with Tester.connected(asking_bot, script) as tester:
        await tester.hears(script.greeting)
        await tester.speaks("Yes, you may.")
        if "tts" in cast.SERVICES:
            await tester.begins_to_hear(SENTENCES.recorded)
        await tester.hears("Thank you.")
    await asking_bot.ends_session()
    [path] = folder.glob("*")
    assert path.stat().st_mode & 0o777 == 0o600
    with wave.open(str(path)) as recording:
        assert loudness(recording.readframes(recording.getnframes())) > 300
