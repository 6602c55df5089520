"""Measure the quickstart's way from nothing to its first word, beside the Python tool's.

e2e/bench --cold starts it. The two sides take turns, three rounds of each; a figure is the median.
A round goes the way of a newcomer, with nothing in uv's cache. Then it starts the same bot again,
and installs it again from the cache. The services are stand-ins on loopback that answer at once.
Files that were just written are still in memory: a slow disk adds to all of this.
"""

import contextlib
import os
import resource
import shutil
import statistics
import sys
import time
from pathlib import Path

from packaging.utils import canonicalize_name

import bots
import network
import speech
import webrtc_client
from caller import until
from cloud_api import pipecat
from conversation import GREETING, KEYS
from services import Cartesia, Deepgram, OpenAI, OpenAIResponses
from standins import StandIns
from tables import machine, mb_, ms, times, write

ROUNDS = 3
FOLDER = bots.CACHE / "cold-start"
OURS = (os.environ["VBOT"], "init", "quickstart")
THEIRS = (pipecat(), "init", "quickstart", "--no-context-hub")
# Theirs takes a blank line as a value; the other variable keeps ONNX Runtime off the network.
VALUES = KEYS | {"OPENAI_MODEL": "gpt-4.1", "CARTESIA_VOICE_ID": "a-voice"}
QUIET = {"ORT_DISABLE_TELEMETRY": "1"}
WHOLE = "**from nothing to the first word**"
# Who needs the heaviest packages. A package that joins them needs a line here.
REASONS = {
    "aiohttp": "the framework itself, for HTTP and WebSockets",
    "av": "aiortc, for SmallWebRTC; it holds FFmpeg",
    "cryptography": "aiortc, for DTLS",
    "daily-python": "the transport Daily",
    "llvmlite": "numba",
    "numba": "resampy, a resampler that the framework uses only on request",
    "numpy": "the framework itself, for audio samples",
    "onnxruntime": "the models that detect speech and the end of a turn",
    "openai": "the framework, for every bot; here the language model too",
    "opencv-python-headless": "SmallWebRTC, to receive video; vbot adds it only to bots that do",
    "pillow": "the framework itself, for images",
    "pipecat-ai": "the framework; 11 MB are its two models",
    "pyright": "the type checker, in the group `dev`",
    "ruff": "the linter, in the group `dev`",
    "uvloop": "`pipecat-ai-prebuilt`, through `fastapi[all]`: the server's event loop",
}


class Round:
    """One side's way: what each step took, and what was installed, a size for each package."""

    def __init__(self, *init: str | Path) -> None:
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir()
        os.environ["UV_CACHE_DIR"] = str(FOLDER / "cache")
        self.theirs = init == THEIRS
        self.times: dict[str, tuple[float, float]] = {}
        self.step("generate the project: `init quickstart`", *init, cwd=FOLDER)
        (folder,) = FOLDER.glob("*-quickstart")
        self.project = bots.Project(folder, {})
        self.project.write_env(**VALUES)
        server = self.project.server
        self.step("choose the versions: `uv lock`", "uv", "lock", cwd=server)
        self.step("download and install: `uv sync`", "uv", "sync", cwd=server)
        network.run(lambda: self.session(""))
        walls, cpus = zip(*self.times.values(), strict=True)
        self.times[WHOLE] = (sum(walls), sum(cpus))
        network.run(lambda: self.session(" again"))
        self.packages = installed(server / ".venv")
        shutil.rmtree(server / ".venv")
        self.step("`uv sync` from uv's cache, files linked", "uv", "sync", cwd=server)
        imports = (server / ".venv/bin/python", "-c", "import bot, pipecat.runner.run")
        self.step("import what `bot.py` needs, byte code compiled", *imports, cwd=server)
        self.step("import what `bot.py` needs, again", *imports, cwd=server)
        shutil.rmtree(server / ".venv")
        copy = ("uv", "sync", "--link-mode", "copy")  # as from a cache on another disk
        self.step("`uv sync` from uv's cache, files copied", *copy, cwd=server)

    def step(self, what: str, *command: str | Path, cwd: Path) -> None:
        start, used = time.perf_counter(), cpu_of_children()
        bots.must(*command, cwd=cwd, env=bots.networked_env() | QUIET, nice=0)
        self.times[what] = (time.perf_counter() - start, cpu_of_children() - used)

    async def session(self, what: str) -> None:
        """Start the bot until it answers, and call it until it is heard."""
        key = KEYS["OPENAI_API_KEY"]
        model = OpenAIResponses(key, GREETING) if self.theirs else OpenAI(key, GREETING, {})
        others = Deepgram(KEYS["DEEPGRAM_API_KEY"], []), Cartesia(KEYS["CARTESIA_API_KEY"])
        async with StandIns(model, *others) as services:
            start = time.perf_counter()
            async with self.project.bot(services.env | QUIET) as bot:
                answers, used = time.perf_counter(), cpu_of_session(bot.process.pid)
                async with webrtc_client.call(bot.url) as caller:
                    await caller.ready()
                    await until(lambda: speech.loudness(caller.heard) > 100, 30)
                    assert speech.loudness(caller.heard) > 100, bot.log
                    spoke, in_all = time.perf_counter(), cpu_of_session(bot.process.pid)
        self.times[f"start `bot.py`{what}, until it answers"] = (answers - start, used)
        self.times[f"connect{what} and hear the first word"] = (spoke - answers, in_all - used)


def cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def cpu_of_session(leader: int) -> float:
    """The processor time of a program and of what it started."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it ended
            fields = path.read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15])) if int(fields[3]) == leader else 0
    return ticks / os.sysconf("SC_CLK_TCK")


def installed(venv: Path) -> dict[str, int]:
    """What each package takes on the disk, with the byte code of what was imported."""
    sizes: dict[str, int] = {}
    for record in venv.glob("lib/python*/site-packages/*.dist-info/RECORD"):
        site, lines = record.parents[1], record.read_text(encoding="utf-8").splitlines()
        files = {site / line.rsplit(",", 2)[0] for line in lines}
        for source in [path for path in files if path.suffix == ".py"]:
            files |= set(source.parent.glob(f"__pycache__/{source.stem}.*.pyc"))
        name = canonicalize_name(record.parent.name.split("-")[0])
        sizes[name] = sum(path.stat().st_blocks * 512 for path in files if path.is_file())
    return sizes


def main() -> None:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # of e2e/venv.sh: these bots keep theirs
    speech.speak(GREETING, 24000)  # once, and not while somebody waits for it
    rounds = [(Round(*OURS), Round(*THEIRS)) for _ in range(ROUNDS)]
    shutil.rmtree(FOLDER)
    lines = ["| step | vbot | `pipecat` | `pipecat` / vbot |", "| --- | ---: | ---: | ---: |"]
    for what in rounds[0][0].times:
        # Two numbers each: seconds, and seconds of a processor.
        a, b = (
            [statistics.median(n) for n in zip(*(r[side].times[what] for r in rounds), strict=True)]
            for side in (0, 1)
        )
        lines.append(
            f"| {what} | {ms(a[0])} ({ms(a[1])}) | {ms(b[0])} ({ms(b[1])}) "
            f"| {times(b[0] / a[0])} ({times(b[1] / a[1])}) |"
        )
    ours, theirs = rounds[-1]
    sizes = sum(ours.packages.values()), sum(theirs.packages.values())
    lines.append(
        f"| installed | {mb_(sizes[0])}, {len(ours.packages)} packages "
        f"| {mb_(sizes[1])}, {len(theirs.packages)} packages | {times(sizes[1] / sizes[0])} |"
    )
    lines += ["", "| package | vbot | `pipecat` | who needs it |", "| --- | ---: | ---: | --- |"]
    tenth = sorted(ours.packages.values())[-10]
    for name, size in sorted((theirs.packages | ours.packages).items(), key=lambda item: -item[1]):
        if size >= tenth:
            has = [mb_(p[name]) if name in p else "-" for p in (ours.packages, theirs.packages)]
            lines.append(f"| `{name}` | {has[0]} | {has[1]} | {REASONS[name]} |")
    text = "\n".join([machine(), "", *lines]) + "\n"
    print(text)
    if "--write" in sys.argv:
        write("cold-start", text)


if __name__ == "__main__":
    main()
