"""A generated bot holds a spoken conversation, and talks to nobody but its services."""

import pytest

import bots
import network
from conversation import ANSWER, GREETING, KEYS, QUESTION, called, converse, stand_ins

# The runtime of the voice models, left alone, reports home nine seconds after it is imported.
SECONDS_UNTIL_TELEMETRY = 12


@pytest.mark.quick
def test_a_person_talks_with_the_bot(quickstart: bots.Project) -> None:
    quickstart.write_env(**KEYS)

    async def conversation() -> None:
        async with stand_ins() as services, quickstart.bot(services.env) as bot:
            await converse(bot)

            heard = [asked["heard"] for asked in services.requests("deepgram", "finalize")]
            assert [words for words in heard if words] == [QUESTION]
            greeted, asked = services.requests("openai", "chat")
            assert [m["role"] for m in greeted["messages"]] == ["system", "developer"]
            assert asked["messages"][-2:] == [
                {"role": "assistant", "content": GREETING},
                {"role": "user", "content": QUESTION},
            ]
            spoken = [said["transcript"].strip() for said in services.requests("cartesia", "speak")]
            assert spoken == [GREETING, ANSWER]

            assert services.names_asked() == services.hosts
            assert bot.errors() == []

    network.run(conversation)


def test_nothing_is_reported_to_anybody(quickstart: bots.Project) -> None:
    quickstart.write_env(**KEYS)

    async def conversation() -> None:
        async with stand_ins() as services, quickstart.bot(services.env) as bot:
            async with called(bot):
                await bot.up_for(SECONDS_UNTIL_TELEMETRY)
            assert services.names_asked() == services.hosts
            if network.fenced():
                assert network.packets_without_route() == 0

    network.run(conversation)


def test_what_is_left_blank_in_the_env_file_keeps_its_default(quickstart: bots.Project) -> None:
    quickstart.write_env(**KEYS, OPENAI_MODEL="", CARTESIA_VOICE_ID="")

    async def conversation() -> None:
        async with stand_ins() as services, quickstart.bot(services.env) as bot:
            async with called(bot):
                pass
            assert services.requests("openai", "chat")[0]["model"] == "gpt-4.1"
            voice = services.requests("cartesia", "speak")[0]["voice"]
            assert voice == {"mode": "id", "id": "86e30c1d-714b-4074-a1f2-1cb6b552fb49"}
            assert bot.errors() == []

    network.run(conversation)
