"""Ctrl-C ends a bot that is still loading its models immediately and without a traceback."""

import os
import signal
import time
from pathlib import Path

import pytest

import bots

SERVICES = ("-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "piper")


@pytest.fixture(scope="module")
def project(vbot: Path) -> bots.Project:
    project = bots.installed(vbot, "loads", "-t", "smallwebrtc", *SERVICES, "--self-host")
    project.write_env(DEEPGRAM_API_KEY="a-deepgram-key", OPENAI_API_KEY="an-openai-key")
    return project


@pytest.mark.parametrize("script", ["bot.py", "self_host.py"])
def test_it_ends_at_once(project: bots.Project, script: str) -> None:
    slow = Path(__file__).parent / "lib/slow_models.py"
    port = str(bots.free_port())
    command = (".venv/bin/python", slow, script, "--port", port)
    with bots.printing(*command, cwd=project.server) as process:
        assert process.stdout
        for line in process.stdout:
            if line == "LOADING\n":
                break
        else:
            raise AssertionError("it does not load models")
        pressed = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        said = process.stdout.read()
        assert process.wait() == 130
        assert said.strip() == ""
        assert time.monotonic() - pressed < 20  # and not a minute
