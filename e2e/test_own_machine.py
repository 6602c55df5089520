"""A bot without a key: at its start it says what is missing, and then it waits for people."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

import bots
import evals
import network
import speech
import webrtc_client
from caller import until
from evals import TEXT
from model import ANSWERS
from services import Call, OpenAI
from standins import Unexpected, own_server
from weights import (
    MOONSHINE_HOST,
    TALKS,
    installed_weights,
    own_bot,
    recording,
    save,
    transcribed,
)

LOCAL = ("-t", "smallwebrtc", "-m", "cascade", "--llm", "ollama")
PORT = 11434  # where a bot looks for Ollama
NO_MEMORY = "model requires more system memory (3.3 GiB) than is available (1.2 GiB)"


class Ollama(OpenAI):
    """Ollama's interface, as far as a bot asks for it: it holds these models."""

    name, host = "ollama", "localhost"

    def __init__(self, models: tuple[str, ...], failure: str = "", says: str = ""):
        super().__init__("ollama", "", ANSWERS)
        self.models, self.failure, self.says = models, failure, says
        self.stops_at, self.go_on = 0, asyncio.Event()  # a word before which it waits; 0 for none

    def answer_to(self, messages: list[dict[str, Any]]) -> str | Call:
        return self.says or super().answer_to(messages)

    async def _wait(self, number: int) -> None:
        await super()._wait(number)
        if self.stops_at and number == self.stops_at:
            await self.go_on.wait()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if body.get("stream"):
            return await super().handle(request)
        self.note(request.path, **body)
        if body["model"] not in self.models:
            error = f"model '{body['model']}' not found"
            return web.json_response({"error": {"message": error}}, status=404)
        if self.failure:
            return web.json_response({"error": {"message": self.failure}}, status=500)
        if request.path == "/api/generate":
            self.expect(set(body) == {"model", "keep_alive"}, f"it would answer: {body}")
            return web.json_response({"done": True, "done_reason": "load"})
        if request.path != "/v1/chat/completions":
            raise Unexpected(f"no such path: {request.path}")
        self.expect(body["max_tokens"] == 1, "more than the first word")
        message = {"role": "assistant", "content": "Hi"}
        choice = {"index": 0, "message": message, "finish_reason": "length"}
        whole = {"id": "1", "object": "chat.completion", "created": 1, "model": body["model"]}
        return web.json_response(whole | {"choices": [choice]})


@pytest.fixture(scope="module")
def thinks(vbot: Path) -> bots.Project:
    """A bot whose language model alone is on the machine: the others load nothing."""
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
        (None, "Nothing answers at http://localhost:11434/v1: start Ollama,"),
        (Ollama(()), "There is no model llama3.2 at http://localhost:11434/v1. Run: ollama pull"),
        (Ollama(("llama3.2",), NO_MEMORY), "llama3.2 at http://localhost:11434/v1 does not answer"),
    ],
    ids=["no server", "no model", "no memory"],
)
def test_it_says_what_is_missing(thinks: bots.Project, server: Ollama | None, said: str) -> None:
    async def start() -> tuple[int, str]:
        async with own_server(server, PORT) if server else contextlib.nullcontext():
            return await asyncio.to_thread(last_words, thinks)

    code, line = network.run(start)
    assert code == 1 and line.startswith(said), line
    assert not server or server.failure in line


def test_its_model_is_warm_before_anybody_comes(thinks: bots.Project) -> None:
    async def start() -> list[str]:
        ollama = Ollama(("llama3.2",))
        async with own_server(ollama, PORT), thinks.bot({}) as bot:
            assert bot.errors() == []
            system = ollama.notes[0][1]["messages"][0]
            assert system["role"] == "system" and "voice conversation" in system["content"]
            return [path for path, _ in ollama.notes]

    assert network.run(start) == ["/v1/chat/completions", "/api/generate"]


@contextlib.contextmanager
def files(data: bytes, sends: list[int], asked: list[str]) -> Iterator[str]:
    """A host of files that breaks off after so many bytes, once for each that is given."""

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


FETCH = "import sys, models, pathlib; models.fetch(sys.argv[1], pathlib.Path(sys.argv[2]))"


def test_a_broken_download_goes_on(vbot: Path, tmp_path: Path) -> None:
    services = (*LOCAL, "--stt", "deepgram", "--tts", "piper")
    project = bots.installed(vbot, "speaks-here", *services)
    to, data, asked = tmp_path / "voices/voice.onnx", bytes(range(256)) * 12_000, list[str]()
    fetch = ("uv", "run", "--no-sync", "python", "-c", FETCH)
    with files(data, [1_500_000, len(data), len(data)], asked) as url:
        broken = bots.run(*fetch, url, to, cwd=project.server)
        assert broken.returncode == 1 and not to.exists()
        assert f"{url} does not come" in broken.stderr and f"belongs to {to}" in broken.stderr
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


@pytest.fixture(scope="module")
def alone(vbot: Path) -> bots.Project:
    return own_bot(vbot, "my-bot-here")


@contextlib.asynccontextmanager
async def starts(project: bots.Project, home: Path, ollama: Ollama) -> AsyncIterator[bots.Bot]:
    """The bot, without a network and a home directory that has seen a model."""
    env = {"HOME": str(home), "HF_HUB_OFFLINE": "1"}
    async with network.silence(but=[MOONSHINE_HOST]), own_server(ollama, PORT):
        async with project.bot(env) as bot:
            yield bot
            assert bot.errors() == []


def test_its_eval_needs_no_key(alone: bots.Project, tmp_path: Path) -> None:
    async def evaluation() -> dict[str, str]:
        async with starts(alone, tmp_path, Ollama(("llama3.2",))) as bot:
            return await evals.hold(alone, bot, alone.server / f"evals/{TEXT}.yaml")

    assert network.run(evaluation) == {TEXT: ""}


@pytest.mark.alone
def test_a_conversation_with_nothing_but_the_machine(alone: bots.Project, tmp_path: Path) -> None:
    files = installed_weights()
    [talk] = [talk for talk in TALKS if "best" in talk.said]

    spoken = tmp_path / "answer.wav"

    async def conversation() -> None:
        now = asyncio.get_running_loop().time
        ollama = Ollama(("llama3.2",), says=ANSWER)
        ollama.pause = 1 / TOKENS
        ollama.stops_at = len(ANSWER.partition(".")[0].split()) + 1  # in the second sentence
        async with starts(alone, tmp_path, ollama) as bot:
            async with webrtc_client.call(bot.url) as caller:

                def pauses() -> int:
                    return sum(m.get("type") == "bot-stopped-speaking" for m in caller.messages)

                await caller.ready()
                await until(lambda: speech.loudness(caller.heard) > 100, 20)
                greeted = now() - bot.up_since
                await until(lambda: pauses() == 1, 20)
                before = len(caller.heard)
                caller.pcm += recording(files, talk, caller.rate)
                while caller.pcm:
                    await asyncio.sleep(0.02)
                asked = now()
                await until(lambda: speech.loudness(caller.heard[before:]) > 100, 30)
                answered = now() - asked
                ollama.go_on.set()  # who waits for the whole answer does not get here
                said = await caller.receive("user-transcription", lambda data: data["final"])
                assert said["text"].lower().strip().startswith(talk.said)
                await until(lambda: pauses() == 2, 30)
                save(spoken, bytes(caller.heard[before:]))
                print(f"Connect to sound: {greeted:.2f} s, question to sound: {answered:.2f} s")

    network.run(conversation)
    model = files / "moonshine_voice/assets/tiny-en"
    heard = transcribed(alone, "moonshine", model, spoken)
    assert "charles dickens" in heard and "people still" in heard, heard


def test_an_ollama_that_went_away_is_named(alone: bots.Project, tmp_path: Path) -> None:
    async def conversation() -> str:
        env = {"HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"}
        async with contextlib.AsyncExitStack() as runs:
            await runs.enter_async_context(own_server(Ollama(("llama3.2",)), PORT))
            async with alone.bot(env) as bot, webrtc_client.call(bot.url) as caller:
                await caller.ready()
                await runs.aclose()
                await caller.type("Are you there?")
                told = await caller.receive("server-message", lambda data: "problem" in data)
                return told["problem"]

    problem = network.run(conversation)
    check = "Check that it runs, OLLAMA_BASE_URL in server/.env, the network and the log."
    assert problem == f"Ollama failed to answer. {check}"
