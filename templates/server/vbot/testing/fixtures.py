"""The fixtures of all tests: the stand-ins of the services, the bot, and who talks with it."""

import asyncio
import contextlib
import functools
import os
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest

import cast
from vbot import Needs
from vbot.testing import Bot, Person, Script, Services, Tester, offline

offline.start()

SERVER = Path(__file__).parents[2]


@functools.cache
def values() -> dict[str, str]:
    """What the bot finds in its environment: all variables that it requires, and keys of services.

    What is set where pytest runs, and is not blank, comes first. The addresses of stand-ins
    override it.
    """
    from bot import REQUIRED  # with those of agent.py

    forms = {role.key: "" for role in cast.SERVICES.values() if role.key}
    for need in REQUIRED:
        if isinstance(need, str):
            forms.setdefault(need, "")
        elif isinstance(need, Needs) and not need.if_set and not forms.keys() & {*need.names}:
            given = [name for name in need.names if os.getenv(name, "").strip()]
            forms[given[0] if given else need.names[0]] = need.in_tests
    text = {name: f"test-{name.lower().replace('_', '-')}" for name in forms}
    return {name: os.getenv(name, "").strip() or forms[name] or text[name] for name in forms}


@pytest.fixture(scope="session", autouse=True)
def environment() -> None:
    """Tools that tests call as functions find the same values."""
    os.environ.update(values())


@pytest.fixture(scope="session")
async def running_services(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Services]:
    """The stand-ins, on this machine."""
    folder = tmp_path_factory.mktemp("services")
    async with Services(cast.SERVICES, values()).serve(folder) as services:
        yield services


@contextlib.asynccontextmanager
async def program(
    file: str, probe: str, services: Services, folder: Path, **more: str
) -> AsyncIterator[Bot]:
    """Run a program of the bot. It answers at `probe`, which is PORT/PATH, when it is ready."""
    env = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    env |= values() | services.env | more | {"LOG_LEVEL": "DEBUG"}
    port = free_port()
    probe = probe.replace("NEXT_PORT", str(port + 1)).replace("PORT", str(port))
    command = [sys.executable, "-m", "vbot.testing.program", file, "--port", str(port)]
    log_file = folder / f"{file}.log"
    with log_file.open("w") as log:
        process = await asyncio.create_subprocess_exec(
            *command, cwd=SERVER, env=env, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log
        )
    bot = Bot(f"http://localhost:{port}", log_file)
    try:
        deadline = asyncio.get_running_loop().time() + 60  # the first start compiles a lot
        while not await answers(f"http://localhost:{probe}"):
            assert process.returncode is None, f"{file} ended:\n{bot.log}"
            late = asyncio.get_running_loop().time() > deadline
            assert not late, f"{file} is not ready:\n{bot.log}"
            await asyncio.sleep(0.05)
        yield bot
    finally:
        if process.returncode is None:
            process.terminate()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), 10)
        if process.returncode is None:
            process.kill()
            await process.wait()


async def answers(address: str) -> bool:
    with contextlib.suppress(aiohttp.ClientError):
        async with aiohttp.ClientSession() as http, http.get(address) as response:
            return response.status < 400
    return False


def free_port() -> int:
    """Return a free port whose next port is free, too."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            with contextlib.suppress(OSError, OverflowError):
                second.bind(("127.0.0.1", port + 1))
                return port


@pytest.fixture(scope="session")
async def running_bot(
    running_services: Services, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Bot]:
    """bot.py, as `uv run bot.py` starts it, once for all tests."""
    folder = tmp_path_factory.mktemp("bot")
    async with program("bot.py", "PORT/status", running_services, folder) as bot:
        yield bot


@pytest.fixture
def services(running_services: Services) -> Iterator[Services]:
    """The stand-ins, without earlier requests. What the real services would refuse fails a test."""
    running_services.begin_test(greeting(running_services))
    yield running_services
    unexpected = [request for service in running_services.all() for request in service.unexpected]
    assert unexpected == []
    assert running_services.script.failures() == []


def greeting(services: Services) -> str | None:
    """Return what the bot says first, or None if the model decides."""
    import agent
    from sentences import SENTENCES

    if "tts" not in services.roles:
        return None
    if agent.SAY_GREETING:
        return agent.GREETING
    return None if services["llm"].greets else SENTENCES.hello


@pytest.fixture
def script(services: Services) -> Script:
    """What the model answers in this test, and what it was told."""
    return services.script


@pytest.fixture
async def tester(running_bot: Bot, script: Script) -> AsyncIterator[Tester]:
    """Somebody who is connected to the bot, and can type and speak."""
    running_bot.begin_test()
    async with Tester.connected(running_bot, script) as tester:
        yield tester


@pytest.fixture
async def caller(running_bot: Bot, script: Script) -> AsyncIterator[Person]:
    """Somebody who calls by telephone, and can speak."""
    if not cast.CALLERS:
        pytest.skip("no carrier connects calls to this bot")
    running_bot.begin_test()
    async with next(iter(cast.CALLERS.values())).connected(running_bot, script) as caller:
        yield caller
