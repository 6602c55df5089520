"""People who talk with the bot."""

import asyncio
import base64
import contextlib
import json
import os
import re
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import aiohttp

from vbot.testing.sound import loudness, recording, resampled
from vbot.testing.stand_in import Script

PATIENCE = 20.0  # seconds; an idle machine needs far fewer


def how_busy() -> str:
    """Say so if this machine has more to do than it can, which explains a limit that passed."""
    if not hasattr(os, "getloadavg"):  # Windows
        return ""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load <= cores:
        return ""
    return (
        f"This machine is busy (load {load:.1f} on {cores} cores): repeat the test when it is not."
    )


def rtvi(kind: str, **data: Any) -> str:
    """A message of a client, in JSON of the RTVI protocol."""
    return json.dumps({"label": "rtvi-ai", "id": "1", "type": kind, "data": data})


def client_ready() -> str:
    """What a client says when it is ready for the bot to speak."""
    about = {"library": "tests", "library_version": "1"}
    return rtvi("client-ready", version="2.0.0", about=about)


# A line that names a failure: of loguru, of uvicorn, or the last one of a traceback.
FAILURE = re.compile(r" ERROR |^ERROR: |Error:")
SILENT = re.compile(r"\| vbot\.tools:.* - (The tool .*)")
RUNS = re.compile(r"\| vbot\.tools:.* - Tool (\S+) runs: (.+)")
ENDS = re.compile(r"\| vbot\.tools:.* - Tool (\S+) (?:has answered|was cancelled): (.+)")
FRAME = re.compile(r'^[> ]*File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>.+)')
SERVER = Path(__file__).parents[3]


def is_owners(file: Path) -> bool:
    """Whether the file is in server/, where the bot runs, and neither vbot's nor a package's."""
    file = SERVER / file
    if file.suffix != ".py" or not file.is_relative_to(SERVER):
        return False
    return not {"vbot", ".venv", "site-packages"} & {*file.relative_to(SERVER).parts}


def last_exception(log: str) -> str:
    """The last exception of a log, with the last line of the owner's that led to it, or ""."""
    _, begins, traceback = log.rpartition("Traceback (most recent call last):")
    # A group of exceptions has a margin.
    lines = [re.sub(r"^ +\| ", "", line) for line in traceback.splitlines()] if begins else []
    at = ""
    for number, line in enumerate(lines):
        if frame := FRAME.match(line):
            if is_owners(file := Path(frame["file"])):
                code = "".join(lines[number + 1 : number + 2]).strip()
                at = f" ({file.name}, line {frame['line']}, in {frame['function']}: {code})"
        elif line and line[0].isalpha():  # all else is indented
            return line + at
    return ""


class Bot:
    """A program that is running: its address, and what it has logged."""

    def __init__(self, url: str, log_file: Path) -> None:
        self.url = url
        self._log_file = log_file
        self._before = 0  # bytes of earlier tests

    def begin_test(self) -> None:
        self._before = self._log_file.stat().st_size

    @property
    def log(self) -> str:
        """What it has logged since the test began."""
        return self._log_file.read_bytes()[self._before :].decode(errors="replace")

    def last_words(self) -> str:
        """Why it does not run, as it says at the end of its log."""
        lines = self.log.strip().splitlines()
        at = [n for n, line in enumerate(lines) if " | " in line]
        said = lines[at[-1] + 1 :] if at else lines  # what follows the last line with a time
        return "\n".join(said[-12:] or lines[-12:])

    async def ends_session(self) -> None:
        """Wait until the framework says that the session of this test has ended."""
        async with asyncio.timeout(PATIENCE):
            while "finished running" not in self.log:
                await asyncio.sleep(0.02)

    def events(self, end: str) -> list[str]:
        """What log.py has logged of what happened, in lines that end like this."""
        logged = [line for line in self.log.splitlines() if "| vbot.log:" in line]
        lines = [line.partition(" - ")[2] for line in logged]
        return [line for line in lines if line.endswith(end)]

    def reports(self) -> str:
        """What monitor.py has logged of services that fail or are late."""
        return "\n".join(line for line in self.log.splitlines() if "| vbot.monitor:" in line)

    def failed_tools(self) -> str:
        """What monitor.py has logged of tools that raised an error."""
        lines = [line.partition(" - ")[2] for line in self.reports().splitlines()]
        return "\n".join(line for line in lines if line.startswith("The tool "))

    def silent_tools(self) -> str:
        """What tools.py has logged of tools of which the model is told nothing."""
        return "\n".join(SILENT.findall(self.log))

    def running_tools(self) -> str:
        """The tools that have not answered yet."""
        log = self.log
        runs = [name for name, call in RUNS.findall(log) if (name, call) not in ENDS.findall(log)]
        return "\n".join(
            f"The tool {name} has not answered: call params.result_callback." for name in runs
        )

    def errors(self) -> str:
        """The lines of its log that name a failure, and the last exception, with its line."""
        raised = last_exception(self.log)
        lines = [line for line in self.log.splitlines() if FAILURE.search(line)]
        lines = [line for line in lines if not raised.startswith(line.strip(" |"))]
        return "\n".join([*lines, raised] if raised else lines)


class Person:
    """Somebody who is connected to the bot. Subclasses know how."""

    path = ""
    rate = 16000  # samples a second, in both directions

    def __init__(self, bot: Bot, script: Script) -> None:
        self.bot, self.script = bot, script
        self.heard = bytearray()  # mono PCM of 16 bits
        self.gone = asyncio.Event()  # the bot has hung up
        self._microphone = bytearray()
        self._said = 0  # how much of script.said was heard before
        self._loud_at = 0.0  # when the bot's voice was last heard
        self._sounded = False  # the bot's voice was heard since `hears` or `begins_to_hear`
        self._tasks: list[asyncio.Task[None]] = []

    @classmethod
    @contextlib.asynccontextmanager
    async def connected(cls, bot: Bot, script: Script, **options: Any) -> AsyncIterator[Any]:
        """Connect, and hang up at the end."""
        async with aiohttp.ClientSession() as http:
            person = cls(bot, script)
            await person.connect(http, **options)
            try:
                yield person
            finally:
                await person.hang_up()
                for task in person._tasks:
                    task.cancel()
                await asyncio.gather(*person._tasks, return_exceptions=True)

    @classmethod
    def signature(cls, values: Mapping[str, str], address: str) -> dict[str, str]:
        """The headers with which a carrier shows that a request for the address is its own."""
        return {}

    @classmethod
    def hosted_path(cls, token: str) -> str:
        """The path at which self_host.py takes the carrier's calls."""
        return f"/ws/{token}"

    async def speaks(self, sentence: str) -> None:
        """Say a sentence, in as much time as it takes."""
        self.script.will_be_spoken(sentence)
        self._microphone += recording(self.rate)
        while self._microphone and not self.gone.is_set():
            await asyncio.sleep(0.02)

    async def hears(self, text: str) -> None:
        """Wait until the bot has said this aloud, after what was heard before, and is silent."""
        __tracebackhide__ = True
        await self.until(lambda: text in self.words(), f"say {text!r}")
        await self.until(lambda: self._sounded, "make a sound")
        await self.until(lambda: self.gone.is_set() or self._now() - self._loud_at > 0.3, "end")
        self._read()

    async def begins_to_hear(self, text: str) -> None:
        """Wait until the bot says this, and is heard. It may go on."""
        __tracebackhide__ = True
        await self.until(lambda: text in self.words(), f"say {text!r}")
        await self.until(lambda: self._sounded, "make a sound")
        self._read()

    def words(self) -> str:
        """What the bot has said since something was last heard."""
        return " ".join(self.script.said[self._said :])

    def _read(self) -> None:
        self._said = len(self.script.said)
        self._sounded = False

    def hear(self, pcm: bytes) -> None:
        """Take in what comes from the bot: mono PCM of 16 bits, at `rate`."""
        self.heard += pcm
        if loudness(pcm) > 300:
            self._loud_at = self._now()
            self._sounded = True

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    async def until(self, holds: Callable[[], object], what: str) -> None:
        """Wait until something holds. Otherwise the failure says why, or what the bot logged."""
        __tracebackhide__ = True  # so that pytest shows the line of the test
        deadline = self._now() + PATIENCE
        next_look = self._now()  # into the log
        while not holds():
            if wrong := self.script.wrong():
                self.script.is_told = True
                raise AssertionError("\n".join([*wrong, self.bot.failed_tools()]).strip())
            if self._now() >= next_look:
                next_look = self._now() + 0.5
                if silent := self.bot.silent_tools():
                    self.script.is_told = True
                    raise AssertionError(f"The bot did not {what}.\n{silent}")
            over = self.gone.is_set() and not holds()
            if over or self._now() > deadline:
                ended = "The bot hung up and" if over else "The bot"
                limit = "" if over else f" within {PATIENCE:g} s"
                said = f" It said {self.words()!r}." if self.words() else ""
                told = self.script.conversation
                asked = f" The model was last told {told[-1][1]!r}." if told else ""
                seen = f"{said} {self.script.hearing()}{asked}"
                runs = self.bot.running_tools()
                logged = self.bot.errors() or runs or "Its log has no error."
                late = "" if over or said or runs else how_busy()
                lines = [f"{ended} did not {what}{limit}.{seen}", logged, late]
                raise AssertionError("\n".join(filter(None, lines)))
            await asyncio.sleep(0.02)

    async def connect(self, http: aiohttp.ClientSession) -> None:
        raise NotImplementedError

    async def hang_up(self) -> None:
        raise NotImplementedError

    async def send_audio(self, pcm: bytes) -> None:
        raise NotImplementedError

    def next_audio(self) -> bytes:
        """The next 20 ms of the microphone, which is silent where nothing is said."""
        size = self.rate // 50 * 2
        pcm = bytes(self._microphone[:size]).ljust(size, b"\0")
        del self._microphone[:size]
        return pcm

    async def keep_speaking(self) -> None:
        """Send what the microphone takes in, in real time."""
        started, sent = self._now(), 0
        while not self.gone.is_set():
            with contextlib.suppress(ConnectionError):  # the bot has hung up
                await self.send_audio(self.next_audio())
            sent += 1
            await asyncio.sleep(max(0.0, started + sent / 50 - self._now()))


class SocketPerson(Person):
    """Somebody who is connected by a WebSocket."""

    ws: aiohttp.ClientWebSocketResponse
    protocols: tuple[str, ...] = ()  # WebSocket subprotocols

    async def connect(
        self, http: aiohttp.ClientSession, path: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        path = path or await self.address(http)
        address = self.bot.url.replace("http", "ws", 1) + path
        self.ws = await http.ws_connect(address, protocols=self.protocols, headers=headers)
        await self.begin()
        self._tasks = [asyncio.create_task(self._listen())]
        self._tasks.append(asyncio.create_task(self.keep_speaking()))

    async def hang_up(self) -> None:
        if not self.gone.is_set():
            with contextlib.suppress(ConnectionError):
                await self.end()
        await self.ws.close()

    async def address(self, http: aiohttp.ClientSession) -> str:
        """The path of the WebSocket."""
        return self.path

    async def begin(self) -> None:
        """Send what comes first."""

    async def end(self) -> None:
        """Send what comes last."""

    def received(self, data: Any) -> None:
        raise NotImplementedError

    async def _listen(self) -> None:
        try:
            async for message in self.ws:
                self.received(message.data)
        finally:
            self.gone.set()


class Tester(SocketPerson):
    """Connected as Pipecat's evals are: by JSON of the RTVI protocol, which has text and audio."""

    path = "/ws"
    __test__ = False  # not a class of tests, in spite of its name

    async def begin(self) -> None:
        self.messages: list[dict[str, Any]] = []  # of the bot
        self._heard = 0  # messages that were heard before
        flags = {"skip_tts": False, "capture_bot_audio": True}
        await self._send("client-message", t="eval-connect", d=flags)
        await self.ws.send_str(client_ready())

    async def types(self, text: str) -> None:
        """Send a message, instead of speaking."""
        assert self.script.takes_text, "This bot's model takes no typed text: use `speaks`."
        await self._send("send-text", content=text)

    def _read(self) -> None:
        super()._read()
        self._heard = len(self.messages)

    def words(self) -> str:
        new = [m for m in self.messages[self._heard :] if m["type"] == "bot-tts-text"]
        return " ".join(" ".join(m["data"]["text"] for m in new).split())

    async def receives(self, kind: str) -> dict[str, Any]:
        """Wait for a message of this type: what the first one holds."""

        def found() -> list[dict[str, Any]]:
            return [m.get("data") or {} for m in self.messages if m["type"] == kind]

        await self.until(found, f"send a message of type {kind}")
        return found()[0]

    async def send_audio(self, pcm: bytes) -> None:
        audio = base64.b64encode(pcm).decode()
        await self._send("raw-audio", base64Audio=audio, sampleRate=self.rate, numChannels=1)

    async def _send(self, kind: str, **data: Any) -> None:
        await self.ws.send_str(rtvi(kind, **data))

    def received(self, data: str) -> None:
        message = json.loads(data)
        if message["type"] == "eval-bot-audio":
            pcm = base64.b64decode(message["data"]["audio"])
            self.hear(resampled(pcm, message["data"]["sampleRate"], self.rate))
        else:
            self.messages.append(message)
