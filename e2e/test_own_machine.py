"""A bot without a key says at its start what is missing, and is ready before people connect."""

import asyncio
import contextlib
import re
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import bots
import evals
import network
import speech
import webrtc_client
from asking import pauses, say
from caller import until
from evals import TEXT
from model import ANSWERS as OTHERS
from ollama import Ollama, served
from runners import Exchange, Words
from weights import TALKS, installed_weights, own_bot, recording, save, transcribed

ANSWERS = OTHERS | {
    "How many days are in a week?": "A week has seven days.",
    "And hours in a day?": "A day has 24 hours.",
}
LOCAL = ("-t", "smallwebrtc", "-m", "cascade", "--llm", "ollama")
MODEL = "llama3.2"
NOTHING = Words({})  # is to be said
NO_MEMORY = "model requires more system memory (3.3 GiB) than is available (1.2 GiB)"


@pytest.fixture(scope="module")
def thinks(vbot: Path) -> bots.Project:
    """A bot of which only the language model is on the machine; its other services load nothing."""
    services = (*LOCAL, "--stt", "deepgram", "--tts", "cartesia")
    project = bots.installed(vbot, "thinks-here", *services)
    project.write_env(DEEPGRAM_API_KEY="deepgram-key", CARTESIA_API_KEY="cartesia-key")
    return project


def last_words(project: bots.Project) -> tuple[int, str]:
    """The exit code of a bot that does not start, and the last line that it prints."""
    start = ("uv", "run", "--no-sync", "python", "bot.py")
    done = bots.run(*start, cwd=project.server, env=bots.plain_env(), timeout=90)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("server", "said"),
    [
        (None, "Nothing answers at http://localhost:11434: start Ollama,"),
        (Ollama("", NOTHING), "There is no model llama3.2 at http://localhost:11434. Run: ollama"),
        (Ollama("gemma3", NOTHING, besides=("qwen3",)), "There is no model llama3.2 at"),
        (Ollama(MODEL, NOTHING, failure=NO_MEMORY), "http://localhost:11434 cannot load llama3.2"),
    ],
    ids=["no server", "no model", "another model", "no memory"],
)
def test_it_says_what_is_missing(thinks: bots.Project, server: Ollama | None, said: str) -> None:
    async def start() -> tuple[int, str]:
        async with served(server) if server else contextlib.nullcontext():
            return await asyncio.to_thread(last_words, thinks)

    code, line = network.run(start)
    assert code == 1 and line.startswith(said), line
    assert not server or server.failure in line
    if server and server.besides:
        assert line.endswith("or set OLLAMA_MODEL in .env to one that is there: gemma3, qwen3.")


def test_its_model_is_warm_before_anybody_comes(thinks: bots.Project) -> None:
    async def start() -> list[str]:
        ollama = Ollama(MODEL, NOTHING)
        async with served(ollama), thinks.bot({}) as bot:
            assert bot.errors() == []
            assert ollama.loaded and ollama.loaded.stays == 24 * 3600
            asked = [(path, body) for path, body in ollama.notes if body]
            system = asked[1][1]["messages"][0]
            assert system["role"] == "system" and "voice conversation" in system["content"]
            return [path for path, _ in asked]

    assert network.run(start) == ["/api/generate", "/v1/chat/completions"]


@contextlib.contextmanager
def files(data: bytes, sends: list[int], asked: list[str]) -> Iterator[str]:
    """A file server that breaks off after these numbers of bytes, once for each."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.headers["Range"])
            begin = int(asked[-1].removeprefix("bytes=").removesuffix("-"))
            self.send_response(206 if begin else 200)
            self.send_header("Content-Length", str(len(data) - begin))
            self.end_headers()
            self.wfile.write(data[begin : begin + sends.pop(0)])

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/voice.onnx"
        server.shutdown()


FETCH = """
import pathlib, sys
from vbot import downloads
downloads.fetch(pathlib.Path(sys.argv[2]).parent, {"voice.onnx": sys.argv[1]})
"""


def test_a_broken_download_goes_on(vbot: Path, tmp_path: Path) -> None:
    services = (*LOCAL, "--stt", "deepgram", "--tts", "piper")
    project = bots.installed(vbot, "speaks-here", *services)
    to, data, asked = tmp_path / "voices/voice.onnx", bytes(range(256)) * 12_000, list[str]()
    fetch = ("uv", "run", "--no-sync", "python", "-c", FETCH)
    with files(data, [1_500_000, len(data), len(data)], asked) as url:
        broken = bots.run(*fetch, url, to, cwd=project.server)
        assert broken.returncode == 1 and not to.exists()
        said = f"{to.parent} lacks voice.onnx, and 127.0.0.1 does not send it: the connection ended"
        assert said in broken.stderr
        went_on = bots.run(*fetch, url, to, cwd=project.server)
        assert "voice.onnx, from 127.0.0.1: 3.1 of 3.1 MB" in went_on.stderr
        assert to.read_bytes() == data
        to.rename(f"{to}.part")  # it was ended after the last byte
        bots.must(*fetch, url, to, cwd=project.server)
        assert to.read_bytes() == data
    assert asked == ["bytes=0-", "bytes=1499999-", f"bytes={len(data) - 1}-"]


TOKENS = 8  # a second, as a model of 3 billion parameters on two cores
ANSWER = (
    "That sentence opens a novel by Charles Dickens. "
    "It was written in the year eighteen fifty nine, and people still quote it."
)


class Hesitant(Words):
    """Stops in the second sentence until the test lets it go on."""

    def __init__(self, answers: Mapping[str, str], pause: float) -> None:
        super().__init__(answers, pause)
        self.go_on = asyncio.Event()

    async def _pieces(
        self, exchange: Exchange, body: dict[str, Any], answer: str
    ) -> AsyncIterator[str]:
        written = ""
        async for piece in super()._pieces(exchange, body, answer):
            if re.search(r"\. \S", written):
                await self.go_on.wait()
            written += piece
            yield piece


@pytest.fixture(scope="module")
def alone(vbot: Path) -> bots.Project:
    return own_bot(vbot, "my-bot-here")


@contextlib.asynccontextmanager
async def starts(project: bots.Project, home: Path, ollama: Ollama) -> AsyncIterator[bots.Bot]:
    """The bot, without a network and a home directory that has seen a model."""
    env = {"HOME": str(home)}
    async with network.silence(), served(ollama):
        async with project.bot(env) as bot:
            yield bot
            assert bot.errors() == []


def test_its_eval_needs_no_key(alone: bots.Project, tmp_path: Path) -> None:
    async def evaluation() -> dict[str, str]:
        async with starts(alone, tmp_path, Ollama(MODEL, Words(ANSWERS))) as bot:
            return await evals.hold(alone, bot, alone.server / f"evals/{TEXT}.yaml")

    assert network.run(evaluation) == {TEXT: ""}


def test_a_wrong_answer_fails_its_eval_at_once(alone: bots.Project, tmp_path: Path) -> None:
    scenario = alone.server / f"evals/{TEXT}.yaml"

    async def evaluation() -> tuple[str, str]:
        ollama = Ollama(MODEL, Words({"": "A day has twelve hours."}))
        async with starts(alone, tmp_path, ollama) as bot:
            verdicts = await evals.hold(alone, bot, scenario)
            return verdicts[TEXT], evals.log_of(bot, scenario).read_text()

    verdict, log = network.run(evaluation)
    assert verdict.startswith("t0 llm_response: judge said no"), verdict
    answered, failed = re.findall(r"(?m)^ *([\d.]+)  \[ t0\]  (?:event: llm_response|FAIL)", log)
    waited = float(failed) - float(answered)
    print(f"A wrong answer fails {waited:.1f} s after its end.")
    assert waited < 10, log


@pytest.mark.alone
def test_a_conversation_with_nothing_but_the_machine(alone: bots.Project, tmp_path: Path) -> None:
    files = installed_weights()
    [talk] = [talk for talk in TALKS if "best" in talk.said]

    spoken = tmp_path / "answer.wav"

    async def conversation() -> None:
        now = asyncio.get_running_loop().time
        words = Hesitant({"": ANSWER}, pause=1 / TOKENS)
        async with starts(alone, tmp_path, Ollama(MODEL, words)) as bot:
            async with webrtc_client.call(bot.url) as caller:
                await caller.ready()
                await until(lambda: speech.loudness(caller.heard) > 100, 20)
                greeted = now() - bot.up_since
                await until(lambda: pauses(caller) == 1, 20)
                before = len(caller.heard)
                asked = await say(caller, recording(files, talk, caller.rate))
                await until(lambda: speech.loudness(caller.heard[before:]) > 100, 30)
                answered = now() - asked
                words.go_on.set()  # who waits for the whole answer does not get here
                said = await caller.receive("user-transcription", lambda data: data["final"])
                assert said["text"].lower().strip().startswith(talk.said)
                await until(lambda: pauses(caller) == 2, 30)
                save(spoken, bytes(caller.heard[before:]))
                print(f"Connect to sound: {greeted:.2f} s, question to sound: {answered:.2f} s")

    network.run(conversation)
    model = files / "moonshine_voice/assets/tiny-en"
    heard = transcribed(alone, "moonshine", model, spoken)
    assert "charles dickens" in heard and "people still" in heard, heard


def test_an_ollama_that_went_away_is_named(alone: bots.Project, tmp_path: Path) -> None:
    async def conversation() -> str:
        env = {"HOME": str(tmp_path)}
        async with contextlib.AsyncExitStack() as runs:
            await runs.enter_async_context(served(Ollama(MODEL, NOTHING)))
            async with alone.bot(env) as bot, webrtc_client.call(bot.url) as caller:
                await caller.ready()
                await runs.aclose()
                await caller.type("Are you there?")
                told = await caller.receive("server-message", lambda data: "problem" in data)
                return told["problem"]

    problem = network.run(conversation)
    check = "Check that it runs, OLLAMA_BASE_URL in server/.env, the network and the log."
    assert problem == f"Ollama cannot be reached. {check}"
