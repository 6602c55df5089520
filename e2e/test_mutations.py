"""Tests that the starter evals, or a call from a browser, notice what is wrong with a bot.

Each mutation breaks the generated bot.py in one place. Evals cannot notice three of them, because
they use their own transport, hear well enough at 8 kHz, and end the bot's session themselves. A
call from a browser notices these.
"""

import multiprocessing
import re
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

import bots
import evals
import network
from conversation import KEYS, converse, stand_ins
from evals import AUDIO, TEXT
from model import DeadModel, Model
from services import OpenAI

# This test alone keeps both processors busy.
pytestmark = pytest.mark.alone

# Bots that run at a time. Each keeps a core busy for some seconds, and then mostly waits.
AT_ONCE = 3

CALL = "call"
Outcome = dict[str, str]  # by whom something was noticed, and what
# The bot is whole; the model it talks to may not be.
SOUND, DEAD_MODEL = "as generated", "dead language model"


def without(line: str) -> tuple[str, str]:
    """bot.py lacks the one line that reads so."""
    return rf"^ *{re.escape(line)}\n", ""


FORGET = """
    @assistant_aggregator.event_handler("on_assistant_turn_stopped")
    async def forget(aggregator, message):
        context.set_messages([])

"""
PLAIN = "plain sentences, without lists, emojis or other formatting"
# What is replaced in bot.py, and by what.
MUTATIONS = {
    "markdown": (
        r"^        agent\.SYSTEM_INSTRUCTION",
        f'\\g<0>.replace("{PLAIN}", "bullet points")',
    ),
    "no tts": without("tts,"),
    "STT told 8 kHz": (r"(?<=DeepgramSTTService\()", "sample_rate=8000, "),
    "no VAD": (r"vad_analyzer=SileroVADAnalyzer\(\)", ""),
    "memory lost": (r"^(?=    return pipeline, )", FORGET),
    "own words forgotten": without("assistant_aggregator,"),
    "WebRTC audio off": (r'(?<="webrtc": lambda: TransportParams\()[^)]*(?=\))', ""),
    "8 kHz output": (r"(?<=params=PipelineParams\()", "audio_out_sample_rate=8000, "),
}
# Which turn, and which event, gives it away to the evals; or else what a call does.
NOTICED: dict[str, Outcome] = {
    SOUND: {},
    DEAD_MODEL: {TEXT: "t0 llm_response", AUDIO: "t0 response"},
    "markdown": {TEXT: "t1 llm_response"},
    "no tts": {AUDIO: "t0 response"},
    "STT told 8 kHz": {AUDIO: "t1 user_transcription"},
    "no VAD": {AUDIO: "t1 vad_user_stopped_speaking"},
    "memory lost": {TEXT: "t3 llm_response", AUDIO: "t3 response"},
    "own words forgotten": {TEXT: "t3 llm_response"},
    "WebRTC audio off": {CALL: "the bot was not heard to say"},
    "8 kHz output": {CALL: "the bot is muffled"},
}


def broken(project: bots.Project, name: str) -> str:
    """Write the bot with this mutation beside bot.py: the name of its file."""
    source = (project.server / "bot.py").read_text()
    pattern, replacement = MUTATIONS.get(name, (r"\Z", ""))
    changed, found = re.subn(pattern, replacement, source, flags=re.M)
    assert found == 1, f"{name}: {pattern!r} is in bot.py {found} times"
    assert (changed != source) == (name in MUTATIONS)
    script = f"{name.replace(' ', '_').lower()}.py"
    (project.server / script).write_text(changed)
    return script


def tried(project: bots.Project, name: str, files: list[Path]) -> Outcome:
    """Run both evals with the bot, or call it if only a call can notice. Return the result."""
    script = broken(project, name)
    model: type[OpenAI] = DeadModel if name == DEAD_MODEL else Model

    async def held() -> Outcome:
        async with evals.stand_ins(model(KEYS["OPENAI_API_KEY"])) as services:
            async with project.bot(services.env, script=script) as bot:
                return await evals.hold(project, bot, *files)

    async def called() -> None:
        async with stand_ins() as services, project.bot(services.env, script=script) as bot:
            await converse(bot)

    if CALL not in NOTICED[name]:
        return {eval_name: why for eval_name, why in network.run(held).items() if why}
    try:
        network.run(called)
    except AssertionError as error:
        return {CALL: str(error)}
    return {}


def as_expected(name: str, noticed: Outcome) -> bool:
    if name == SOUND:
        return noticed == {}
    return all(noticed.get(by, "").startswith(what) for by, what in NOTICED[name].items())


@pytest.fixture(scope="module")
def outcomes(request: pytest.FixtureRequest, evaluated: bots.Project) -> dict[str, Outcome]:
    """What was noticed for each mutation in this run."""
    evaluated.write_env(**KEYS)
    scenarios = [
        evals.limited(evals.starter(evaluated, name), seconds)
        for name, seconds in ((TEXT, 5), (AUDIO, 10))
    ]
    files = [evals.written(scenario, evaluated.folder) for scenario in scenarios]
    mine = [item for item in request.session.items if item.path == request.path]
    names = [name for name in NOTICED if any(f"[{name}]" in item.name for item in mine)]
    # In processes, because the stand-ins and the caller keep time.
    with ProcessPoolExecutor(AT_ONCE, multiprocessing.get_context("spawn")) as pool:
        tries = {name: pool.submit(tried, evaluated, name, files) for name in names}
        found = {name: attempt.result() for name, attempt in tries.items()}
    for name, noticed in found.items():
        if not as_expected(name, noticed):  # which may be for want of time: once more, alone
            found[name] = tried(evaluated, name, files)
    return found


def row(name: str, noticed: Outcome) -> str:
    """What was noticed by whom, for a person to look at."""
    tried_by = (CALL,) if CALL in NOTICED[name] else (TEXT, AUDIO)
    cells = [f"{by}: {noticed.get(by, 'not noticed').partition(': ')[0]}" for by in tried_by]
    return f"{name:30}{'; '.join(cells)}"


@pytest.mark.parametrize("name", NOTICED)
def test_what_is_wrong_is_noticed(
    name: str, outcomes: dict[str, Outcome], figures: list[str]
) -> None:
    figures.append(row(name, outcomes[name]))
    assert as_expected(name, outcomes[name]), outcomes[name]
