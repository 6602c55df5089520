"""Runs the evals of a generated project against its bot, with the framework's own program."""

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

import bots
from conversation import GREETING, KEYS
from model import ANSWERS
from services import Cartesia, Deepgram, OpenAI
from standins import StandIns

BYTE_CODE = bots.CACHE / "pycache" / bots.WORKER  # apart from the sources
TEXT, AUDIO = "starter_text", "starter_audio"


def stand_ins(model: OpenAI) -> StandIns:
    """The services of the quickstart, with the model's possible questions and answers."""
    sentences = [*ANSWERS, GREETING, *ANSWERS.values()]
    return StandIns(
        Deepgram(KEYS["DEEPGRAM_API_KEY"], sentences), model, Cartesia(KEYS["CARTESIA_API_KEY"])
    )


def turns(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [turn for entry in scenario["scenarios"] for turn in entry["turns"]]


def starter(project: bots.Project, name: str) -> dict[str, Any]:
    """A starter eval. If it is spoken, it uses our voice and ear, not models from a hub."""
    scenario = yaml.safe_load((project.server / f"evals/{name}.yaml").read_text())
    if name == AUDIO:
        scenario["user"]["speech"] = {"factory": "eval_speech.voice"}
        sentences = [GREETING, *ANSWERS.values()]
        scenario["judge"]["transcription"] = {"factory": "eval_speech.ear", "sentences": sentences}
    return scenario


def limited(scenario: dict[str, Any], seconds: float) -> dict[str, Any]:
    """The same eval with shorter timeouts, as the services are on this machine."""
    for turn in turns(scenario):
        for expected in turn["expect"]:
            expected["within_ms"] = round(seconds * 1000)
    return scenario


def written(scenario: Mapping[str, Any], folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{scenario['name']}.yaml"
    path.write_text(yaml.safe_dump(scenario))
    return path


async def hold(project: bots.Project, bot: bots.Bot, *files: Path) -> dict[str, str]:
    """Run evals against the running bot; return why each failed, or "" if it passed."""
    url = bot.url.replace("http", "ws", 1) + "/ws"
    logs = log_of(bot, files[0]).parent
    has_judge = (project.server / "evals/judge.py").exists()
    program = ("python", "-m", "pipecat.evals") if has_judge else ("pipecat", "eval")
    command = ("uv", "run", "--group", "evals", *program, "run", *files, "--bot-url", url)
    options = ("--no-cache", "--verbose", "--logs-dir", logs)
    # The voice detection in the framework's harness calls a third-party host unless it is told not
    # to. The bot does not get this setting, because it must avoid such calls by itself.
    env = bots.plain_env() | {"ORT_DISABLE_TELEMETRY": "1", "PYTHONPYCACHEPREFIX": str(BYTE_CODE)}
    if any(file.stem == AUDIO for file in files):
        env["PYTHONPATH"] = str(Path(__file__).parent)  # for eval_speech
    done = await asyncio.to_thread(
        bots.run, *command, *options, cwd=project.server, env=env, timeout=140, nice=0
    )
    verdicts: dict[str, str] = {}
    for file in files:
        log = log_of(bot, file)
        assert log.exists(), f"no such eval was held:\n{done.stdout}{done.stderr}"
        verdicts[file.stem] = verdict(log.read_text())
    assert (done.returncode == 0) == (set(verdicts.values()) == {""}), done.stdout
    return verdicts


def log_of(bot: bots.Bot, file: Path) -> Path:
    """What happened in an eval, and when."""
    return bot.log_file.with_suffix("") / f"{file.stem}__{file.stem}.eval.log"


def verdict(log: str) -> str:
    """Return the turn, the event and the reason of a failure from the log; "" if it passed."""
    if re.search(r"done: PASS", log):
        return ""
    failed = re.search(r"\[ *(\S+)\]  FAIL: (.*)", log)
    assert failed, log
    return f"{failed[1]} {failed[2]}"
