"""The log tells a newcomer what happens, and does not tell an operator what people say."""

import sys
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
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
from vbot.log import A_MINUTE, LONGEST, ConversationLog, Ear, Repeats, Turn, parts_of

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
    clock = SimpleNamespace(monotonic=lambda: float(next(seconds)), time=lambda: 1000.0)
    monkeypatch.setattr(vbot_log, "time", clock)
    it = ConversationLog(worker, with_words)
    turns: list[Turn] = []

    @it.event_handler("on_turn")
    async def on_turn(log: ConversationLog, turn: Turn) -> None:
        turns.append(turn)

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
    assert turns == [
        Turn("bot", 1002.0, "It is me.", None, False),
        Turn("person", 1006.0, "Who is there?"),
        Turn("bot", 1009.0, "It is me.", 3.0, False),
        Turn("person", 1013.0, "I typed."),
        Turn("bot", 1014.0, "It is me.", 1.0, True),
    ]


def sound(level: int) -> bytes:
    """20 ms at 8 kHz."""
    return np.full(160, level, np.int16).tobytes()


@pytest.mark.parametrize(
    ("background", "about", "expected"),
    [
        (0, 1.3, 1.0),  # the detector thought that it went on
        (20, 0.95, 1.0),  # or that it ended before
        (0, 1.19, 1.0),
        (3000, 1.1, 1.1),  # the line is as loud as the person
    ],
)
def test_when_the_last_sound_was(background: int, about: float, expected: float) -> None:
    ear = Ear()
    for step in range(76):
        at = step / 50
        ear.hear(at, sound(4000 if at <= 1.0 else background), 8000)
    assert ear.last_sound(1.5, about, within=0.3) == pytest.approx(expected)
    assert len(ear._levels) == 76
    ear.hear(10.0, sound(0), 8000)  # after a gap
    ear.hear(10.02, b"", 8000)
    assert len(ear._levels) == 1 and ear.last_sound(10.2, 10.0, 0.3) == 10.0


def test_sound_that_comes_in_bursts() -> None:
    """As of a resampler, on a line whose clock is a little slow."""
    ear, held = Ear(), b""
    for step in range(3000):
        at = step / 50 * 1.0002
        held += sound(4000 if at <= 58.0 else 0)
        if step % 5 == 4:  # every 100 ms
            ear.hear(at, held[:-160], 8000)  # 10 ms stay behind
            held = held[-160:]
    assert ear.last_sound(59.5, 58.5, within=1.0) == pytest.approx(58.0, abs=0.1)  # a piece


async def test_waits_are_those_of_the_person(monkeypatch: pytest.MonkeyPatch) -> None:
    """However late the log sees the frames, and the detector of speech the end of it."""
    own = IdentityFilter()
    it = ConversationLog(PipelineWorker(Pipeline([own])), with_words=False)
    turns: list[Turn] = []

    @it.event_handler("on_turn")
    async def on_turn(log: ConversationLog, turn: Turn) -> None:
        turns.append(turn)

    start, seen = time.monotonic(), iter([0.0] * 76 + [0.4] * 10)
    real = time.time()
    steps = [
        (step / 50, frames.InputAudioRawFrame(sound(4000 if step <= 50 else 0), 8000, 1))
        for step in range(76)
    ]
    stopped = frames.VADUserStoppedSpeakingFrame(stop_secs=0.2, timestamp=real + 1.3)
    steps += [(1.3, stopped), (1.4, HEARD), (1.8, BOT[0]), (2.5, SAID)]
    for at, frame in steps:
        clock = start + at + next(seen)  # 0.4 seconds late at the end
        monkeypatch.setattr(vbot_log.time, "monotonic", lambda clock=clock: clock)
        pushed = int((5 + at) * 1e9)  # by the clock of the pipeline
        await it.on_push_frame(FramePushed(own, own, frame, FrameDirection.DOWNSTREAM, pushed))
    monkeypatch.undo()
    assert turns[-1].waited == pytest.approx(0.8, abs=0.02)


async def test_a_sentence_about_loading_is_no_answer(
    log: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the bot still says it when the answer comes, or not."""
    seconds = 0.0
    clock = SimpleNamespace(monotonic=lambda: seconds, time=lambda: 0.0)
    monkeypatch.setattr(vbot_log, "time", clock)
    aside, answer = frames.TTSStartedFrame(append_to_context=False), frames.TTSStartedFrame()
    part = IdentityFilter()
    for script in (
        [(1, aside), (1, BOT[0]), (4, BOT[1]), (20, answer), (20, BOT[0])],
        [(1, aside), (1, BOT[0]), (20, answer)],
        [(20, BOT[0])],  # a model that speaks
    ):
        it = ConversationLog(PipelineWorker(Pipeline([part])), with_words=True)
        asked = [(0, frames.UserStoppedSpeakingFrame()), (0, HEARD)]
        for at, frame in [*asked, *script, (25, SAID)]:
            seconds = at + 1.0
            pushed = FramePushed(part, part, frame, FrameDirection.DOWNSTREAM, 0)
            await it.on_push_frame(pushed)
    assert [line for line in log if "Answered" in line] == [
        "Answered after 20.0 s: 'It is me.'"
    ] * 3


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
    logger.configure(patcher=lambda record: None)
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


@pytest.mark.parametrize("as_json", [False, True])
def test_a_long_text_is_cut(
    as_json: bool, restored: None, capsys: pytest.CaptureFixture[str]
) -> None:
    vbot_log.set_up("INFO", as_json)
    logger.error(f"begins {'A' * 40_000} ends")
    logger.error("\x1b" * 40_000)
    shown = capsys.readouterr().err
    assert "begins AAA" in shown and "AAA ends" in shown and "[... 38062 more char" in shown
    assert len(shown) < 6 * LONGEST + (2 * LONGEST + 2000 if as_json else 0)


def test_what_comes_from_outside_forges_no_line(
    restored: None, capsys: pytest.CaptureFixture[str]
) -> None:
    vbot_log.set_up("INFO")
    forged = "2026-01-01 00:00:00.000 | ERROR    | bot:1 - all is lost"
    logger.error(f"Unknown kind x\n{forged}\r\x1b[2J\u2028\u202e\x9b")
    shown = capsys.readouterr().err
    assert len(shown.splitlines()) == 1 and "\x1b" not in shown and "\x9b" not in shown
    assert "x\\n2026" in shown and r"\r\x1b[2J\u2028\u202e\x9b" in shown
    logger.info("Heard 'Grüße,\tनमस्ते 👩\u200d💻'")  # what people write stays readable
    assert "Heard 'Grüße,\tनमस्ते 👩\u200d💻'" in capsys.readouterr().err


def test_a_traceback_stays_and_the_text_of_its_exceptions_is_cut(
    restored: None, capsys: pytest.CaptureFixture[str]
) -> None:
    vbot_log.set_up("INFO")
    forged = "2026-01-01 00:00:00.000 | ERROR"

    def of_ours() -> None:
        try:
            raise KeyError("B" * 40_000)
        except KeyError as e:
            raise ValueError(f"not readable\n{forged}\x1b{'A' * 40_000}") from e

    try:
        of_ours()
    except ValueError:
        logger.exception("It failed")
    shown = capsys.readouterr().err
    assert len(shown) < 20_000 and "\x1b" not in shown
    assert "in of_ours" in shown and "KeyError" in shown and "ValueError: not readable" in shown
    assert "direct cause" in shown and f"\n{forged}" not in shown

    try:
        raise ExceptionGroup("two", [ValueError("\x1b"), TypeError("short")])
    except ExceptionGroup:
        logger.exception("They failed")
    shown = capsys.readouterr().err
    assert "\x1b" not in shown and "TypeError: short" in shown


def test_an_ordinary_exception_is_logged_as_it_is() -> None:
    try:
        raise ValueError("short") from KeyError("also")
    except ValueError as e:
        assert vbot_log.safe_exception(e) is e


def line(name: str = "pipecat.x", level: str = "ERROR", number: int = 1, **extra: str) -> Any:
    return {
        "name": name,
        "line": number,
        "level": logger.level(level),
        "extra": extra,
        "message": "What came is not readable",
    }


def test_strangers_cannot_make_the_framework_warn_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = SimpleNamespace(monotonic=lambda: 600.0)
    monkeypatch.setattr(vbot_log, "time", clock)
    repeats = Repeats()
    assert sum(repeats.may_pass(line()) for _ in range(1000)) == A_MINUTE
    assert repeats.may_pass(line(number=2))  # another place
    accepts = line(
        "vbot.hosting.runtime", logged_at="asyncio:1"
    )  # no file is free for a connection
    passed = [repeats.may_pass(accepts) for _ in range(1000)]
    assert sum(passed) == A_MINUTE
    clock.monotonic = lambda: 660.0
    first = line()
    assert repeats.may_pass(first)
    assert first["message"] == "What came is not readable (before: 980 more such lines, left out)"
    second = line()
    assert repeats.may_pass(second) and second["message"] == "What came is not readable"


def test_news_and_our_own_warnings_are_not_limited() -> None:
    repeats = Repeats()
    assert all(repeats.may_pass(line("vbot.monitor")) for _ in range(1000))
    assert all(repeats.may_pass(line(level="INFO")) for _ in range(1000))
