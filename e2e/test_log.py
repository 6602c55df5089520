"""The log tells a newcomer what happens, and does not tell an operator what people say."""

import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

import bots
import network
from caller import until
from conversation import ANSWER, GREETING, KEYS, QUESTION, converse, stand_ins

SERVICES = ("-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia")
INFO = {"LOG_LEVEL": ""}  # as nobody sets it


@pytest.fixture(scope="module")
def project(vbot: Path) -> bots.Project:
    options = ("-t", "smallwebrtc", *SERVICES, "--self-host")
    project = bots.installed(vbot, "logs", *options)
    project.write_env(**KEYS)
    return project


def logged(bot: bots.Bot) -> list[str]:
    """The lines of its log, without their times and places, and with N for numbers of seconds."""
    lines = [line.rpartition(" - ")[2] for line in bot.log.splitlines() if line.strip()]
    return [re.sub(r"[0-9.]+ s\b", "N s", line) for line in lines]


async def what_a_conversation_logs(
    project: bots.Project, script: str = "bot.py"
) -> tuple[bots.Bot, list[str]]:
    async with stand_ins() as services, project.bot(services.env | INFO, script=script) as bot:
        await converse(bot)
        await until(lambda: "Ended after" in bot.log, 15)
        return bot, logged(bot)


@pytest.mark.quick
def test_a_newcomer_reads_what_happens(project: bots.Project) -> None:
    bot, (version, *lines) = network.run(lambda: what_a_conversation_logs(project))
    assert "Pipecat" in version
    assert lines == [
        f"Bot ready! Open {bot.url}",
        "Connected",
        f"Said {GREETING!r}",
        f"Heard {QUESTION!r}",
        f"Answered after N s: {ANSWER!r}",
        "Ended after N s: the person left",
    ]


def test_an_operator_does_not_read_what_is_said(project: bots.Project) -> None:
    bot, lines = network.run(lambda: what_a_conversation_logs(project, "self_host.py"))
    assert lines[-5:] == [
        "Connected",
        f"Said {len(GREETING)} characters",
        f"Heard {len(QUESTION)} characters",
        f"Answered after N s: {len(ANSWER)} characters",
        "Ended after N s: the person left",
    ]
    words = set(re.findall(r"\w{4,}", f"{GREETING} {QUESTION} {ANSWER}".lower()))
    assert words.isdisjoint(re.findall(r"\w+", bot.log.lower())), bot.log


@pytest.fixture
def started(project: bots.Project, request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """The address of a bot, started with these options, and the lines until it says it is ready."""
    port = bots.free_port()
    command = ("uv", "run", "bot.py", "--port", str(port), *request.param)
    with bots.printing(*command, cwd=project.server) as process:
        assert process.stdout
        lines = [f"http://localhost:{port}"]
        for line in process.stdout:
            lines.append(line.strip())
            if "Bot ready!" in line:
                break
        yield lines
        process.terminate()


@pytest.mark.parametrize("started", [(), ("-t", "webrtc")], indirect=True, ids=["", "-t"])
def test_it_says_that_it_is_ready_once_it_answers(started: list[str]) -> None:
    with urllib.request.urlopen(f"{started[0]}/status") as response:
        assert response.status == 200


@pytest.mark.parametrize("started", [("-v",), ("-vv",)], indirect=True, ids=["-v", "-vv"])
def test_more_can_be_read(started: list[str]) -> None:
    assert any("| DEBUG " in line for line in started)
