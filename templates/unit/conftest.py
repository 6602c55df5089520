"""What all tests of server/vbot share."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SERVER = Path(__file__).parents[1] / "server"
sys.path[:0] = [str(Path(__file__).parent), str(SERVER)]
os.environ["PYTHON_DOTENV_DISABLED"] = "1"  # no .env is read
for name in ("FALLBACK_NUMBER", "LOG_FORMAT", "SILENCE_SECONDS", "TIME_ZONE"):
    os.environ.pop(name, None)  # a shell may have them

from loguru import logger  # noqa: E402

import vbot  # noqa: E402, F401  # before the framework, as in bot.py


@pytest.fixture
def log() -> Iterator[list[str]]:
    """What is logged at INFO and above."""
    lines: list[str] = []
    sink = logger.add(lambda line: lines.append(line.record["message"]), level="INFO")
    yield lines
    logger.remove(sink)
