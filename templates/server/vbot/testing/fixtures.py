"""The fixtures of all tests: the stand-ins of the services, the bot, and who talks with it."""

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest

import cast
from vbot import checks
from vbot.testing import Bot, Person, Role, Script, Services, Tester, offline, values
from vbot.testing.carriers import ARI, VARIABLE, Carriers
from vbot.testing.clock import Clock, tell_time_of_test
from vbot.testing.people.person import how_busy

offline.start()
tell_time_of_test()
the_clock = Clock()

SERVER = Path(__file__).parents[2]
HAS_CARRIERS = {"carriers": Role("carriers", Carriers, addresses={VARIABLE: "{}"})}


def pytest_unconfigure() -> None:
    the_clock.remove()


@pytest.fixture(scope="session", autouse=True)
def environment() -> None:
    """Tools that tests call as functions find what they need in the environment, as the bot does.

    What is set where pytest runs, and is not blank, comes first. If agent.py is wrong, no test
    runs, as the bot does not start.
    """
    import agent

    if wrong := checks.problems():
        pytest.exit("\n".join(wrong), returncode=1)

    os.environ.update(values.keys_of(cast.SERVICES) | values.of(agent.REQUIRED))


@pytest.fixture(scope="session")
async def running_services(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Services]:
    """The stand-ins, on this machine. Their addresses override the environment."""
    folder = tmp_path_factory.mktemp("services")
    roles = cast.SERVICES | HAS_CARRIERS
    async with Services(roles, values.AnyValue()).serve(folder) as services:
        os.environ.update(services.env_of_own)
        yield services


@contextlib.asynccontextmanager
async def program(
    file: str, probe: str, services: Services, folder: Path, **more: str
) -> AsyncIterator[Bot]:
    """Run a program of the bot. It answers at `probe`, which is PORT/PATH, when it is ready."""
    env = ARI | {
        name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")
    }
    env |= values.keys_of(cast.SERVICES) | services.env | more | {"LOG_LEVEL": "DEBUG"}
    env["RECORDINGS_OF_TESTS"] = str(folder / "recordings")
    port = free_port()
    probe = probe.replace("NEXT_PORT", str(port + 1)).replace("PORT", str(port))
    command = [sys.executable, "-m", "vbot.testing.program", file, "--port", str(port)]
    log_file = folder / f"{file}.log"
    with log_file.open("w") as log:
        process = await asyncio.create_subprocess_exec(
            *command, cwd=SERVER, env=env, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log
        )
    bot = Bot(f"http://localhost:{port}", log_file)
    services.bots.append(bot)
    try:
        deadline = asyncio.get_running_loop().time() + 60  # the first start compiles a lot
        while not await answers(f"http://localhost:{probe}"):
            if process.returncode is not None:
                pytest.fail(f"{file} did not start:\n{bot.last_words()}", pytrace=False)
            if asyncio.get_running_loop().time() > deadline:
                why = f"{bot.last_words()}\n{how_busy()}".strip()
                pytest.fail(f"{file} is not ready after 60 s:\n{why}", pytrace=False)
            await asyncio.sleep(0.05)
        yield bot
    finally:
        services.bots.remove(bot)
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
    wrong = running_services.script.wrong()
    if wrong and not running_services.script.is_told:
        failed = [bot.failed_tools() for bot in running_services.bots]
        pytest.fail("\n".join(filter(None, [*wrong, *failed])), pytrace=False)


def mutes_people() -> bool:
    """Whether bot.py does not let people interrupt the bot."""
    return "user_mute_strategies=" in (SERVER / "bot.py").read_text()


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
def clock() -> Iterator[Clock]:
    """What time it is for the bot and its tools: vbot.facts.now()."""
    yield the_clock
    the_clock.reset()


@pytest.fixture
def carrier(services: Services) -> Carriers:
    """The API of the carrier, which the bot asks to connect a call to somebody else."""
    return services.of(Carriers)


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
