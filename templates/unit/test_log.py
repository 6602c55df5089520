"""The log tells a newcomer what happens, and does not tell an operator what people say."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest
from loguru import logger
from pipecat.frames import frames
from pipecat.observers.base_observer import FramePushed
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.filters.identity_filter import IdentityFilter
from pipecat.processors.frame_processor import FrameDirection
from pipecat.processors.frameworks.rtvi.frames import RTVISendTextFrame

from vbot import log as vbot_log
from vbot.log import ConversationLog, parts_of

BOT = frames.BotStartedSpeakingFrame(), frames.BotStoppedSpeakingFrame()
HEARD = frames.LLMContextUserTurnFrame("Who is there?", "now")
SAID = frames.LLMContextAssistantTurnFrame("It is me.", "now")
CONVERSATION = [
    frames.ClientConnectedFrame(),
    *BOT,
    SAID,
    frames.UserStoppedSpeakingFrame(),
    HEARD,
    *BOT,
    SAID,
    RTVISendTextFrame("1", "I typed."),
    BOT[0],
    frames.InterruptionFrame(),
    SAID,
]


@pytest.mark.parametrize("with_words", [True, False])
async def test_a_conversation(
    log: list[str], with_words: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, inner = IdentityFilter(), IdentityFilter()
    worker = PipelineWorker(Pipeline([own, Pipeline([inner])]))
    seconds = iter(range(1000))
    clock = SimpleNamespace(monotonic=lambda: float(next(seconds)))
    monkeypatch.setattr(vbot_log, "time", clock)
    it = ConversationLog(worker, with_words)
    for frame in CONVERSATION:
        for source in (own, inner) if frame in (HEARD, SAID) else (own,):
            await it.on_push_frame(FramePushed(source, own, frame, FrameDirection.DOWNSTREAM, 0))
    await it.cleanup()
    heard, said, read = "Who is there?", "It is me.", "I typed."
    heard, said, read = (
        repr(text) if with_words else f"{len(text)} characters" for text in (heard, said, read)
    )
    assert log == [
        "Connected",
        f"Said {said}",
        f"Heard {heard}",
        f"Answered after 3.0 s: {said}",
        f"Read {read}",
        f"Answered after 1.0 s: {said}, and was interrupted",
        "Ended after 18 s",
    ]


async def test_only_the_processors_of_bot_py_are_its_parts() -> None:
    one, two, inner = IdentityFilter(), IdentityFilter(), IdentityFilter()
    nested = Pipeline([inner])
    parts = parts_of(PipelineWorker(Pipeline([one, nested, two])))
    assert [part for part in parts if part in (one, two, nested, inner)] == [one, nested, two]
    assert len(PipelineWorker(Pipeline([one]), enable_rtvi=False).pipeline.processors) > 0


@pytest.fixture
def restored() -> Any:
    yield
    logger.remove()
    logger.add(sys.stderr)


@pytest.mark.parametrize(
    ("level", "said"),
    [("INFO", True), ("DEBUG", True), ("WARNING", False), ("WARN", False), ("FATAL", False)],
)
def test_names_of_levels(
    level: str, said: bool, restored: None, capsys: pytest.CaptureFixture[str]
) -> None:
    vbot_log.set_up(level)
    logger.info("some news")
    assert ("some news" in capsys.readouterr().err) == said


def test_an_unknown_level(restored: None) -> None:
    with pytest.raises(SystemExit, match="LOG_LEVEL is 'LOUD'; it must be one of TRACE, DEBUG"):
        vbot_log.set_up("LOUD")


@pytest.mark.parametrize(
    ("module", "message", "level", "shown"),
    [
        ("vbot.monitor", "A service is late", "INFO", True),
        ("bot", "Of the owner", "INFO", True),
        ("pipecat.services.x", "It says what was said", "INFO", False),
        ("pipecat.services.x", "It has failed", "ERROR", True),
        ("pipecat.transports.daily.transport", "Joined", "INFO", True),
        ("pipecat.x", "ttfs_p99_latency not set", "WARNING", False),
    ],
)
def test_what_is_news(module: str, message: str, level: str, shown: bool) -> None:
    record = {"name": module, "message": message, "level": logger.level(level)}
    assert vbot_log.is_news(record) == shown


def test_with_json_a_line_is_an_object(restored: None, capsys: pytest.CaptureFixture[str]) -> None:
    vbot_log.set_up("INFO", as_json=True)
    logger.info("some news")
    assert '"message": "some news"' in capsys.readouterr().err
