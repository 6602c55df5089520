"""A model of the size of Llama 3.2 3B, for measuring: it computes as much, but knows nothing."""

import contextlib
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import bots
import small_model
import weights

LIB = Path(__file__).parent
PACKAGES = """
gguf==0.19.0 \
    --hash=sha256:70bcd10edfe697fb2dad6e40af2234b9d8ece9a41a99761405121ebda1c3c1cd
"""
FILE = bots.CACHE / "random-3b.gguf"  # 2 GB


def made(files: Path) -> Path:
    """The model; making it takes half a minute. `files` have the tokens of a smaller model."""
    if not FILE.exists():
        packages = weights.installed(bots.PROJECTS / "large-model", PACKAGES)
        smaller = small_model.weights_in(files)
        part = FILE.with_suffix(".part")
        env = {**bots.plain_env(), "PYTHONPATH": str(packages)}
        write = (sys.executable, "-B", LIB / "write_weights.py", smaller, part)
        bots.must(*write, cwd=packages, env=env)
        part.replace(FILE)
    return FILE


@contextlib.asynccontextmanager
async def served(files: Path) -> AsyncIterator[bots.Bot]:
    """llama.cpp's server, when it has loaded the model: on all cores, as Ollama starts it."""
    model, threads = made(files), os.cpu_count() or 1
    async with small_model.llama_server(files, model, threads) as server:
        yield server
