"""What all tests share: the stand-ins of the services, the running bot, and who talks with it."""

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest

import offline
from people import Bot, Tester
from stand_ins import Cartesia, ChatCompletions, Deepgram, Script, Service

os.environ["PYTHON_DOTENV_DISABLED"] = "1"  # .env has the real keys
offline.start()

SERVER = Path(__file__).parent.parent

# What the bot finds in its environment: add what you add to REQUIRED in bot.py. The addresses of
# stand-ins come first, then what is set where pytest runs and not blank, then these values.
VARIABLES = {
    "DEEPGRAM_API_KEY": "test-deepgram-api-key",
    "OPENAI_API_KEY": "test-openai-api-key",
    "CARTESIA_API_KEY": "test-cartesia-api-key",
    "DAILY_API_KEY": "test-daily-api-key",
}
VARIABLES |= {name: os.environ[name] for name in VARIABLES if os.getenv(name, "").strip()}


class Services:
    """The stand-ins of the services."""

    def __init__(self) -> None:
        self.script = Script()
        self.stt = Deepgram(self.script, VARIABLES["DEEPGRAM_API_KEY"])
        self.llm = ChatCompletions(self.script, VARIABLES["OPENAI_API_KEY"])
        self.tts = Cartesia(self.script, VARIABLES["CARTESIA_API_KEY"])
        self.env: dict[str, str] = {}  # their addresses, for the bot

    def all(self) -> list[Service]:
        return [self.stt, self.llm, self.tts]


@pytest.fixture(scope="session")
async def running_services() -> AsyncIterator[Services]:
    """The stand-ins, on this machine, with a port for each."""
    services = Services()
    async with (
        services.stt.serve() as stt,
        services.llm.serve() as llm,
        services.tts.serve() as tts,
    ):
        services.env = {
            "DEEPGRAM_STT_BASE_URL": f"ws://{stt}",
            "OPENAI_BASE_URL": f"http://{llm}/v1",
            "CARTESIA_TTS_BASE_URL": f"ws://{tts}/tts/websocket",
        }
        yield services


@contextlib.asynccontextmanager
async def program(
    file: str, probe: str, services: Services, folder: Path, **more: str
) -> AsyncIterator[Bot]:
    """Run a program of the bot. It answers at `probe`, which is PORT/PATH, when it is ready."""
    env = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    env |= VARIABLES | services.env | more | {"LOG_LEVEL": "DEBUG"}
    port = free_port()
    probe = probe.replace("NEXT_PORT", str(port + 1)).replace("PORT", str(port))
    command = [sys.executable, "tests/program.py", file, "--port", str(port)]
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
    running_services.script.clear()
    from bot import GREETING, SAY_GREETING  # once .env is not read

    if SAY_GREETING:
        running_services.script.greeting = GREETING
    for service in running_services.all():
        service.clear()
    yield running_services
    unexpected = [request for service in running_services.all() for request in service.unexpected]
    assert unexpected == []
    assert running_services.script.failures() == []


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
