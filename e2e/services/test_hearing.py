"""One second of speech is one second, by telephone and on the web.

That holds for what a person says, to every service that hears, and for what a realtime service
says. Every bot is generated, and all run in one process: hearing.py has the lines, and ears.py the
services' ends of the connections. The rest is the framework's. While a realtime bot speaks the
person does too, and nothing may interrupt the bot before its model does.

By telephone, a service that can be told the language is told one, and is sent it. The web's bots
have none.
"""

import itertools
import json
import re
import shutil
import subprocess
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bots
import languages
import speech
from every_bot import SERVICES

HERE = Path(__file__).parent
BOTS = bots.PROJECTS / "hearing"
RATE = 48000  # of the speech that is played in
TOLERANCE = 0.02  # seconds of one

LINES = {"phone": "twilio", "web": "websocket"}
KINDS = ("stt", "realtime")
ALL = [f"{kind}/{path.stem}" for kind in KINDS for path in sorted(SERVICES.glob(f"{kind}/*.py"))]
# Services that cannot be driven without their network, each with the reason.
NOT_DRIVEN: dict[str, str] = {}

Measured = dict[tuple[str, str], dict[str, Any]]


def options(service: str) -> list[str]:
    kind, name = service.split("/")
    if kind == "stt":
        return ["-m", "cascade", "--stt", name, "--llm", "openai", "--tts", "openai"]
    return ["-m", "realtime", "--realtime", name]


def at_8_khz(code: str) -> str:
    """A bot that has the telephone's rate everywhere."""
    rates = "audio_in_sample_rate=8000, audio_out_sample_rate=8000, "
    return code.replace("PipelineParams(", f"PipelineParams({rates}")


def with_a_detector(code: str) -> str:
    """A realtime bot that detects voices itself."""
    module = "pipecat.processors.aggregators.llm_response_universal"
    imports = (
        "from pipecat.audio.vad.silero import SileroVADAnalyzer\n"
        f"from {module} import LLMUserAggregatorParams\n"
    )
    params = "user_params=LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer())"
    return imports + code.replace("AggregatorPair(context)", f"AggregatorPair(context, {params})")


def without_language(code: str) -> str:
    """A bot that does not tell its service."""
    code, found = re.subn(r"(?m)^.*=LANGUAGE\b.*\n", "", code)
    assert found == 1
    return code


# Bots that get it wrong: it has to be noticed.
MUTANTS = {
    ("stt/whisper", "phone", "8 kHz"): at_8_khz,
    ("stt/moonshine", "phone", "8 kHz"): at_8_khz,
    ("realtime/nova_sonic", "phone", "8 kHz"): at_8_khz,
    ("realtime/gemini_live", "web", "detector"): with_a_detector,
    ("stt/deepgram", "phone", "language"): without_language,
}


def a_second_of_speech() -> bytes:
    """Loud from its first sample on, and without a pause that would end it."""
    words = "many young men ran along a narrow lane in the morning rain"
    wave = speech.samples(speech.speak(words, RATE))
    loud = np.flatnonzero(np.abs(wave) > 3000)
    return wave[loud[0] : loud[0] + RATE].astype(np.int16).tobytes()


def mutant(bot: Path, name: str, mutate: Any) -> Path:
    """A copy of the bot's folder in which its code is changed."""
    folder = BOTS / f"mutant-{name}"
    shutil.copytree(bot.parent, folder)
    code = mutate(bot.read_text())
    assert code != bot.read_text(), f"nothing to change in {bot}"
    (folder / "bot.py").write_text(code)
    return folder / "bot.py"


@pytest.fixture(scope="module")
def told(vbot: Path) -> dict[str, str]:
    """The language of each service that is told one."""
    return languages.told(vbot, *KINDS)


@pytest.fixture(scope="module")
def projects(vbot: Path, told: dict[str, str]) -> dict[tuple[str, str], bots.Project]:
    """A bot for each service and line."""
    shutil.rmtree(BOTS, ignore_errors=True)
    made = {}
    for service, (line, transport) in itertools.product(ALL, LINES.items()):
        if service not in NOT_DRIVEN:
            name = re.sub(r"\W|_", "-", f"{service}-{line}")
            args = [name, "-t", transport, *options(service)]
            if line == "phone":
                args += languages.option(told, service)
            made[service, line] = bots.generate(vbot, BOTS / name, *args)
    return made


@pytest.fixture(scope="module")
def measured(
    projects: dict[tuple[str, str], bots.Project], python: Path
) -> dict[tuple[str, ...], dict[str, Any]]:
    """What each service heard and said on each line; of the mutants, too."""
    paths: dict[tuple[str, ...], Path] = {
        key: project.server / "bot.py" for key, project in projects.items()
    }
    for number, ((service, line, what), mutate) in enumerate(MUTANTS.items()):
        paths[service, line, what] = mutant(paths[service, line], str(number), mutate)

    sound = BOTS / "speech.wav"
    with wave.open(str(sound), "wb") as wav:
        wav.setnchannels(1)
        wav.setsampwidth(2)
        wav.setframerate(RATE)
        wav.writeframes(a_second_of_speech())
    plan = [{"service": key[0], "line": key[1], "bot": str(path)} for key, path in paths.items()]
    done = subprocess.run(
        [python, HERE / "lib" / "hearing.py", sound],
        input=json.dumps(plan),
        capture_output=True,
        text=True,
        env=bots.plain_env(),
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["reached"] == [], "a connection is not replaced"
    return dict(zip(paths, result["measured"], strict=True))


def figure(real: Measured, service: str) -> str:
    """What was measured of the service, in a line."""
    each = {line: real[service, line] for line in LINES}
    heard = ", ".join(f"{one['heard']:.3f} s ({line})" for line, one in each.items())
    text = f"told {each['phone']['rate']} Hz, heard {heard}"
    if service.startswith("realtime/"):
        said = ", ".join(f"{one.get('said', 0):.3f} s ({line})" for line, one in each.items())
        text += f"; asked for {each['phone'].get('voice_rate')} Hz, said {said}"
    return text


@pytest.fixture(scope="module")
def real(measured: dict[tuple[str, ...], dict[str, Any]]) -> Measured:
    """Without the mutants."""
    return {(key[0], key[1]): one for key, one in measured.items() if len(key) == 2}


def test_every_service_is_driven(real: Measured, figures: list[str]) -> None:
    """On both lines, and without an error in its log."""
    for service in ALL:
        figures.append(f"{service}: {NOT_DRIVEN.get(service) or figure(real, service)}")
    assert {service for service, _ in real} | NOT_DRIVEN.keys() == set(ALL)
    assert len(real) == 2 * (len(ALL) - len(NOT_DRIVEN))
    assert {key: one["errors"] for key, one in real.items() if one["errors"]} == {}


def is_realtime(key: tuple[str, str]) -> bool:
    return key[0].startswith("realtime/")


def off(times: dict[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    return {key: time for key, time in times.items() if abs(time - 1) > TOLERANCE}


def test_a_second_that_is_said_is_heard_as_a_second(real: Measured) -> None:
    assert off({key: one["heard"] for key, one in real.items()}) == {}


def test_a_second_of_a_realtime_service_is_a_second_on_the_line(real: Measured) -> None:
    assert off({key: one["said"] for key, one in real.items() if is_realtime(key)}) == {}


def test_only_the_model_interrupts_a_realtime_bot(real: Measured) -> None:
    """That it does when the model says so is a condition of being driven."""
    alone = {key: one["interrupted_alone"] for key, one in real.items() if is_realtime(key)}
    assert len(alone) > 0
    assert set(alone.values()) == {0}, alone


def test_a_service_is_sent_the_language(real: Measured, told: dict[str, str]) -> None:
    """By telephone; and what is found is not there without it, on the web."""
    seen = {key for key, one in real.items() if languages.seen(told, key[0], one["texts"])}
    assert seen == {(service, "phone") for service in told}


def test_a_bot_that_gets_it_wrong_is_noticed(
    measured: dict[tuple[str, ...], dict[str, Any]], told: dict[str, str]
) -> None:
    wrong = {key: one for key, one in measured.items() if len(key) == 3}
    assert len(wrong) == len(MUTANTS)
    for (service, _, what), one in wrong.items():
        if what == "8 kHz":
            assert one["heard"] == pytest.approx(0.5, abs=TOLERANCE), service
        elif what == "language":
            assert not languages.seen(told, service, one["texts"])
        else:
            assert one["interrupted_alone"] == 1, service
