"""Generated projects: make one with vbot, install it, start and stop its bot.

`generate` makes one, `Project.sync` installs what it needs, `Project.write_env` fills in its keys,
`Project.bot` runs it as its owner would.
"""

import asyncio
import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import zlib
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

import network

CACHE = Path(__file__).resolve().parent.parent / ".cache"
# Each worker of pytest-xdist has folders of its own; a run without workers has those above them.
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
PROJECTS = CACHE / "projects" / WORKER

# What a bot may find in its environment: no key of the person who runs these checks, no proxy, no
# certificate, nothing that turns telemetry off.
KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "UV_CACHE_DIR", "UV_PYTHON_DOWNLOADS")


def plain_env() -> dict[str, str]:
    """The environment of a person who set nothing up but uv."""
    home = CACHE / "home" / WORKER
    home.mkdir(parents=True, exist_ok=True)
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return kept | {"HOME": str(home)}


def networked_env() -> dict[str, str]:
    """The environment for installing: how this machine reaches its registries stays in force."""
    ours = ("VIRTUAL_ENV", "PYTHONPATH")
    return {name: value for name, value in os.environ.items() if name not in ours}


def run(
    *command: str | Path,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    timeout: float = 600,
    nice: int = 15,
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, and return its output as text, with separate streams.

    It has a low priority, because another worker may be holding a conversation in real time.
    """
    line = [str(part) for part in command]
    with subprocess.Popen(
        ["nice", "-n", str(nice), *line],
        cwd=cwd,
        env=networked_env() if env is None else env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException as error:
            # What it started, too: `uv run` is not the program that it runs.
            os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                said = "".join(process.communicate())
                raise AssertionError(f"{line} did not end in {timeout:g} s:\n{said}") from None
            raise
    return subprocess.CompletedProcess(line, process.returncode, out, err)


def must(
    *command: str | Path,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    timeout: float = 600,
    nice: int = 15,
) -> str:
    """Run a command that has to succeed, and return its stdout."""
    done = run(*command, cwd=cwd, env=env, timeout=timeout, nice=nice)
    if done.returncode != 0:
        line = " ".join(str(part) for part in command)
        raise AssertionError(f"{line}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


@contextlib.contextmanager
def printing(*command: str | Path, cwd: Path) -> Iterator["subprocess.Popen[str]"]:
    """A program in a session of its own; its stderr is redirected to its stdout."""
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=plain_env(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        yield process


def tree(folder: Path) -> set[str]:
    """Every file below `folder`, as paths relative to it; a virtual environment counts as one."""
    found: set[str] = set()
    for base, folders, files in os.walk(folder):
        here = Path(base).relative_to(folder)
        if ".venv" in folders:
            folders.remove(".venv")
            found.add((here / ".venv").as_posix())
        found |= {(here / name).as_posix() for name in files}
    return found


PROBES = ("/metrics", "/ready", "/status")


@dataclass
class Bot:
    """A bot that is running, or a server: the one that starts it for calls, or that of its page."""

    url: str
    log_file: Path
    process: asyncio.subprocess.Process
    probes: str = ""  # where self_host.py answers probes and Prometheus
    up_since: float = 0.0

    async def die(self) -> None:
        """Kill the program, as when its machine is switched off."""
        os.killpg(self.process.pid, signal.SIGKILL)
        await self.process.wait()

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """Suspend the program, as on a machine that is overloaded."""
        os.killpg(self.process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.killpg(self.process.pid, signal.SIGCONT)

    async def up_for(self, seconds: float) -> None:
        """Wait until the bot has been answering for that long."""
        now = asyncio.get_running_loop().time()
        await asyncio.sleep(max(0.0, self.up_since + seconds - now))

    @property
    def log(self) -> str:
        return self.log_file.read_text(errors="replace")

    async def answers(self, path: str, method: str = "GET") -> int:
        """The status of its answer."""
        async with aiohttp.ClientSession() as http:
            url = (self.probes if path in PROBES else "") or self.url
            async with http.request(method, url + path, json={}) as response:
                return response.status

    def errors(self) -> list[str]:
        """The lines of the log that a healthy bot does not write."""
        wrong = re.compile(r"\| (ERROR|CRITICAL) +\||^Traceback|^ERROR:")
        return [line for line in self.log.splitlines() if wrong.search(line)]

    def sessions(self) -> dict[str, bool]:
        """The sessions that began, and whether each is still running."""
        # The framework's runner of a session says so, first and last of all.
        line = re.compile(r"WorkerRunner '(\S+)': (started|finished) running")
        return {name: what == "started" for name, what in line.findall(self.log)}

    async def metrics(self) -> dict[str, float]:
        """What Prometheus gets, by name and labels."""
        async with aiohttp.ClientSession() as http, http.get(f"{self.probes}/metrics") as response:
            lines = (await response.text()).splitlines()
        return {
            name: float(value)
            for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")
        }

    async def running(self) -> int:
        """How many sessions run, as the program counts them, or the framework in the log.

        The framework does not log the end of a session whose ending was cut short.
        """
        if not self.probes or self.process.returncode is not None:
            return sum(self.sessions().values())
        return round((await self.metrics())["bot_sessions"])

    async def sessions_end(self, timeout: float = 15) -> None:
        """Wait until every session that began has ended: the person left, and the bot noticed."""
        now = asyncio.get_running_loop().time
        deadline = now() + timeout
        while await self.running():
            assert now() < deadline, f"still running: {self.sessions()}; see {self.log_file}"
            await asyncio.sleep(0.1)


@dataclass
class Project:
    """A generated project: its folder, and the result of `vbot init --json`."""

    folder: Path
    report: dict[str, Any]

    @property
    def server(self) -> Path:
        return self.folder / "server"

    @property
    def files(self) -> set[str]:
        """The files that vbot says it wrote."""
        return {file["path"] for file in self.report["files"]}

    def sync(self, *options: str) -> None:
        """Install what the bot needs, as its README says."""
        must("uv", "sync", *options, cwd=self.server)

    def write_env(self, **values: str) -> None:
        """Fill in .env.example as a person would: set each name, even if it is commented out."""
        text = (self.server / ".env.example").read_text()
        for name, value in values.items():
            text, found = re.subn(rf"(?m)^#? ?{name}=.*$", f"{name}={value}", text)
            assert found == 1, f"{name} is in .env.example {found} times"
        (self.server / ".env").write_text(text)
        (self.server / ".env").chmod(0o600)

    def bot(
        self,
        env: Mapping[str, str],
        *options: str,
        port: int | None = None,
        script: str = "bot.py",
    ) -> contextlib.AbstractAsyncContextManager[Bot]:
        """Start `uv run bot.py` and wait until it answers; always stop it at the end."""
        port = port or free_port()
        return self._running(env, port, "/status", script, "--port", str(port), *options)

    def webhook(self, env: Mapping[str, str]) -> contextlib.AbstractAsyncContextManager[Bot]:
        """`uv run webhooks.py`, likewise."""
        port = free_port()
        return self._running({**env, "PORT": str(port)}, port, "/health", "webhooks.py")

    def cloud(self, env: Mapping[str, str]) -> contextlib.AbstractAsyncContextManager[Bot]:
        """bot.py as Pipecat Cloud runs it, likewise."""
        port = free_port()
        script = str(Path(__file__).parent / "cloud_sessions.py")
        # Modules are looked for where bot.py is, and not where that script is.
        env = {**env, "PYTHONPATH": f"{self.server}:{env.get('PYTHONPATH', '')}"}
        return self._running(env, port, "/status", "python", "-P", script, str(port))

    def _running(
        self, env: Mapping[str, str], port: int, path: str, *command: str
    ) -> contextlib.AbstractAsyncContextManager[Bot]:
        full = {**plain_env(), "LOG_LEVEL": "DEBUG", **env}
        if network.fenced():
            full["UV_OFFLINE"] = "1"  # fail at once where uv would wait for a registry
        name = f"{self.folder.name}-{command[0]}"
        return running(
            "uv", "run", *command, cwd=self.server, env=full, port=port, path=path, name=name
        )


@contextlib.asynccontextmanager
async def running(
    *command: str | Path,
    cwd: Path,
    env: Mapping[str, str],
    port: int,
    path: str,
    name: str,
    host: str = "localhost",
) -> AsyncIterator[Bot]:
    """Start a program and wait until `path` at `port` answers; stop it at the end."""
    log_file = CACHE / "logs" / f"{name}-{port}.log"
    log_file.parent.mkdir(parents=True, exist_ok=True)
    with log_file.open("w") as log:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=cwd,
            env=env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    bot = Bot(f"http://{host}:{port}", log_file, process)
    if any(str(part).endswith(("self_host.py", "own_models.py")) for part in command):
        bot.probes = f"http://{host}:{port + 1}"
    try:
        await _until_it_answers(bot, path)
        bot.up_since = asyncio.get_running_loop().time()
        yield bot
        if bot.process.returncode is None:
            # Whoever called has left by now: in every check, that ends the session.
            await bot.sessions_end()
    finally:
        await _stop(process)


def generate(vbot: Path, folder: Path, *args: str) -> Project:
    """Run `vbot init ARGS` in `folder`, which must create exactly one project."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    report = json.loads(must(vbot, "init", *args, "--json", cwd=folder, env=plain_env()))
    made = list(folder.iterdir())
    assert len(made) == 1, f"vbot init {' '.join(args)} made {made}"
    return Project(made[0], report)


def add_base(folder: Path, text: bytes) -> str:
    """Add the base of a text to a project, and return its SHA-256 for the record."""
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    digest = hashlib.sha256(text).hexdigest()
    data = compressor.compress(text) + compressor.flush()
    (folder / ".vbot/base" / digest).write_bytes(data)
    return digest


def installed(vbot: Path, name: str, *options: str) -> Project:
    """A project of that name, with its packages installed."""
    project = generate(vbot, PROJECTS / name, name, *options)
    project.sync(*(("--group", "evals") if "--eval" in options else ()))
    return project


def free_port() -> int:
    """A free port; the next one is free, too."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            with contextlib.suppress(OSError, OverflowError):
                second.bind(("127.0.0.1", port + 1))
                return port


async def _until_it_answers(bot: Bot, path: str) -> None:
    """Wait for an answer, patiently: the first start of a fresh environment compiles a lot."""
    now = asyncio.get_running_loop().time
    deadline = now() + 90
    while now() < deadline:
        if bot.process.returncode is not None:
            raise AssertionError(f"it ended with {bot.process.returncode}:\n{bot.log}")
        with contextlib.suppress(aiohttp.ClientError):
            if await bot.answers(path) < 400:
                return
        await asyncio.sleep(0.1)
    raise AssertionError(f"it does not answer:\n{bot.log}")


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Send SIGTERM, and later SIGKILL to the rest of its session: a bot waits for open peers."""
    if process.returncode is None:
        process.terminate()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), 3)
    with contextlib.suppress(ProcessLookupError, TimeoutError):
        async with asyncio.timeout(5):
            # Until all of it is gone: Vite does not start beside another one of the same project.
            while True:
                os.killpg(process.pid, signal.SIGKILL)
                await asyncio.sleep(0.01)
    await process.wait()
