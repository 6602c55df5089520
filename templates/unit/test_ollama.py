"""vbot/ollama.py: a model is loaded once, and whoever has to wait for it is told."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from types import ModuleType
from typing import Any

import pytest
from aiohttp import web
from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    LLMContextFrame,
    TranscriptionFrame,
    TTSSpeakFrame,
    UserStartedSpeakingFrame,
    VADUserStartedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frameworks.rtvi.frames import RTVIServerMessageFrame
from pipecat.services.ollama.llm import OLLamaLLMService
from pipecat.tests.utils import SleepFrame, run_test

from fakes import Ears
from vbot import ollama, reading
from vbot.failover import LanguageModelFailover
from vbot.ollama import ModelLoader

STILL_LOADING = "The model is still loading."


class Ollama:
    """A stand-in of Ollama, which has llama3.2."""

    def __init__(self) -> None:
        self.loads: list[Any] = []
        self.chats: list[Any] = []
        self.takes = 0.0  # seconds to load
        self.reads_for = 0.0  # seconds
        self.running = self.most = self.cancelled = 0  # chats
        self.problem = ""
        self.is_ollama = True

    @contextlib.asynccontextmanager
    async def served(self) -> AsyncIterator[str]:
        app = web.Application()
        app.router.add_get("/api/version", self.version)
        app.router.add_post("/v1/chat/completions", self.chat)
        if self.is_ollama:
            app.router.add_get("/api/tags", self.tags)
            app.router.add_post("/api/generate", self.generate)
        runner = web.AppRunner(app, handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()

    async def version(self, request: web.Request) -> web.Response:
        return web.json_response({"version": "0.33.0"})

    async def tags(self, request: web.Request) -> web.Response:
        return web.json_response({"models": [{"name": "llama3.2:latest"}, {"name": "qwen3:8b"}]})

    async def generate(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.loads.append(body)
        await asyncio.sleep(self.takes)
        if self.problem:
            return web.json_response({"error": self.problem}, status=500)
        if body["model"] not in ("llama3.2", "qwen3:8b"):
            return web.json_response({"error": "model not found"}, status=404)
        return web.json_response({"done": True})

    async def chat(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.chats.append(body)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(self.reads_for)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running -= 1
        if body["model"] != "llama3.2":
            return web.json_response({"error": {"message": "no such model"}}, status=404)
        message = {"role": "assistant", "content": "Hello"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "llama3.2"}
        return web.json_response(answer | {"choices": [choice]})


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch) -> None:
    """No model is known, and nobody waits for long."""
    monkeypatch.setattr(ollama, "_models", {})
    monkeypatch.setattr(ollama, "LOADED_WITHIN", 0.2)
    monkeypatch.setattr(ollama, "CHECKED_EVERY", 0.1)


@pytest.fixture
def server() -> Ollama:
    return Ollama()


@pytest.fixture
def run(server: Ollama, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Runs a test while the server answers at OLLAMA_BASE_URL."""

    def run_it(main: Callable[[], Awaitable[Any]]) -> Any:
        async def served() -> Any:
            async with server.served() as url:
                monkeypatch.setenv("OLLAMA_BASE_URL", f"{url}/v1/")
                return await main()

        return asyncio.run(served())

    return run_it


def llm(model: str = "llama3.2") -> OLLamaLLMService:
    settings = OLLamaLLMService.Settings(model=model, system_instruction="Be kind.")
    return OLLamaLLMService(base_url="http://localhost:1/v1", settings=settings)


def test_a_model_is_loaded_once_for_all(run: Callable[..., Any], server: Ollama) -> None:
    server.takes = 0.1

    async def main() -> None:
        first, second = ollama.model_of(llm()), ollama.model_of(llm())
        assert first is second
        assert first.load() is second.load() and first.is_loading()
        await first.load()
        assert not first.is_loading() and not first.problem
        await second.load()

    run(main)
    assert server.loads == [{"model": "llama3.2", "keep_alive": "24h"}] * 2


def test_the_address_has_a_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OLLAMA_BASE_URL", raising=False)
    assert ollama.model_of(llm()).server == "http://localhost:11434"


def test_the_model_is_ready_before_the_first_session(
    run: Callable[..., Any], server: Ollama
) -> None:
    assert run(lambda: ollama.prepare(llm())) == []
    assert len(server.loads) == 1
    [chat] = server.chats  # it reads the instruction
    assert chat["messages"][0] == {"role": "system", "content": "Be kind."}
    assert chat["max_tokens"] == 1 and not chat["stream"]


def test_the_model_in_use_is_found_in_a_switcher(run: Callable[..., Any], server: Ollama) -> None:
    async def main() -> list[str]:
        return await ollama.prepare(LanguageModelFailover(llm(), llm("qwen3:8b")))

    assert run(main) == []
    assert [load["model"] for load in server.loads] == ["llama3.2"]


def test_other_services_need_nothing() -> None:
    for other in (None, object()):
        assert asyncio.run(ollama.prepare(other)) == []


def test_what_is_wrong_is_named(run: Callable[..., Any], server: Ollama) -> None:
    [line] = run(lambda: ollama.prepare(llm("gpt-oss")))
    assert "There is no model gpt-oss at http://127.0.0.1:" in line
    assert line.endswith(
        "Run: ollama pull gpt-oss, or set OLLAMA_MODEL in .env to one that is there: "
        "llama3.2, qwen3:8b."
    )
    server.problem = "model requires more system memory"
    [line] = run(lambda: ollama.prepare(llm()))
    assert line.endswith(" cannot load llama3.2: model requires more system memory")


def test_another_server_than_ollama_will_do(run: Callable[..., Any], server: Ollama) -> None:
    server.is_ollama = False
    assert run(lambda: ollama.prepare(llm())) == []
    [line] = run(lambda: ollama.prepare(llm("gpt-oss")))
    assert line.endswith("Run: ollama pull gpt-oss")


@pytest.mark.parametrize(
    ("status", "body", "says"),
    [
        (404, "404 page not found", "404 Not Found"),
        (404, '{"detail": "Not Found"}', "404 Not Found"),
        (501, "<html>Unsupported method</html>", "501 Not Implemented"),
        (200, "<html>Welcome</html>", "200 OK"),
    ],
)
def test_what_answers_may_be_another_program(
    monkeypatch: pytest.MonkeyPatch, status: int, body: str, says: str
) -> None:
    async def answer(request: web.Request) -> web.Response:
        kind = "application/json" if body.startswith("{") else "text/html"
        return web.Response(status=status, text=body, content_type=kind)

    async def main() -> list[str]:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        address = f"http://127.0.0.1:{runner.addresses[0][1]}"
        monkeypatch.setenv("OLLAMA_BASE_URL", address)
        try:
            found = await ollama.prepare(llm())
        finally:
            await runner.cleanup()
        return [line.replace(address, "ADDRESS") for line in found]

    assert asyncio.run(main()) == [
        f"What answers at ADDRESS is not Ollama ({says}). Set OLLAMA_BASE_URL in .env."
    ]


def test_an_address_needs_its_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_BASE_URL", "localhost:18811/v1")
    assert asyncio.run(ollama.prepare(llm())) == [
        "OLLAMA_BASE_URL in .env must begin with http://, as in http://localhost:18811."
    ]


def test_a_server_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_BASE_URL", "http://127.0.0.1:9")
    assert asyncio.run(ollama.prepare(llm())) == [
        "Nothing answers at http://127.0.0.1:9: start Ollama, or set OLLAMA_BASE_URL in .env."
    ]


def texts(frames: Any) -> list[Any]:
    """What was said and what the page was told, in order."""
    found: list[Any] = []
    for frame in frames:
        match frame:
            case TTSSpeakFrame():
                found.append(frame.text)
            case RTVIServerMessageFrame():
                found.append(frame.data["loading"])
            case LLMContextFrame():
                found.append("question")
    return found


async def through(loader: ModelLoader, *frames: Frame) -> list[Any]:
    down, _ = await run_test(loader, frames_to_send=[*frames])
    return texts(down)


def test_a_person_who_waits_is_told(run: Callable[..., Any], server: Ollama) -> None:
    server.takes = 0.6
    context = LLMContext()

    async def main() -> list[Any]:
        loader = ModelLoader(llm(), context, STILL_LOADING)
        assert not loader.delays_answer()
        passing = asyncio.create_task(through(loader, LLMContextFrame(context)))
        await asyncio.sleep(0.4)
        assert loader.delays_answer()
        passed = await passing
        assert not loader.delays_answer()
        return passed

    told = run(main)
    assert told.index(STILL_LOADING) < told.index("question")
    assert told.index("llama3.2") < told.index("")
    assert len(told) == 4


def test_nobody_waits_for_a_model_that_is_loaded(run: Callable[..., Any], server: Ollama) -> None:
    context = LLMContext()

    async def main() -> list[Any]:
        loader = ModelLoader(llm(), context, STILL_LOADING)
        speaks = UserStartedSpeakingFrame()
        return await through(loader, speaks, SleepFrame(), LLMContextFrame(context))

    assert run(main) == ["question"]
    assert len(server.loads) == 2  # while the person speaks, and before the question


def test_a_question_is_passed_on_to_a_server_that_fails(
    run: Callable[..., Any], server: Ollama
) -> None:
    """Then the service says what is wrong."""
    server.problem = "out of memory"
    context = LLMContext()

    async def main() -> list[Any]:
        loader = ModelLoader(llm(), context, STILL_LOADING)
        return await through(loader, LLMContextFrame(context))

    assert run(main) == ["question"]


def test_it_reads_ahead_while_the_greeting_is_spoken(
    run: Callable[..., Any], server: Ollama
) -> None:
    async def main() -> None:
        loader = ModelLoader(llm(), LLMContext(), STILL_LOADING)
        speaks = TTSSpeakFrame("Hello!")
        assert await through(loader, speaks, SleepFrame(), TTSSpeakFrame("Well?")) == [
            "Hello!",
            "Well?",
        ]

    run(main)
    [chat] = server.chats
    assert [message["content"] for message in chat["messages"]] == ["Be kind.", "Hello!"]


class Moonshine(Ears):
    """Like MoonshineSTTService: hears a word for each half second of sound."""

    settings: Any = None

    def __init__(self, settings: Any = None) -> None:
        super().__init__()

    async def run_stt(self, audio: bytes) -> AsyncGenerator[Frame | None, None]:
        words = ["What", "is", "the", "capital", "of", "France"]
        yield TranscriptionFrame(" ".join(words[: len(audio) // 16000]), "", "")


def question(seconds: float) -> list[Frame]:
    """The frames of somebody who speaks for so long."""
    sound: list[Frame] = []
    for _ in range(round(seconds / 0.1)):
        sound += [InputAudioRawFrame(bytes(3200), 16000, 1), SleepFrame(sleep=0.1)]
    return [VADUserStartedSpeakingFrame(), *sound]


async def asked_aloud(*frames: Frame) -> tuple[ModelLoader, list[Any]]:
    context = LLMContext()
    loader = ModelLoader(llm(), context, STILL_LOADING)
    asked = LLMContext([{"role": "user", "content": "What is the capital of France?"}])
    more = [*question(2.4), *frames, LLMContextFrame(asked)]
    down, _ = await run_test(Pipeline([Moonshine(), loader]), frames_to_send=more)
    return loader, texts(down)


@pytest.fixture
def moonshine(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType(reading.MOONSHINE)
    vars(module)["MoonshineSTTService"] = Moonshine
    monkeypatch.setitem(sys.modules, reading.MOONSHINE, module)


def test_it_reads_what_is_said_while_it_is_said(
    run: Callable[..., Any], server: Ollama, moonshine: None
) -> None:
    _, passed = run(asked_aloud)
    assert passed == ["question"]
    assert len(server.chats) > 1 and server.most == 1
    read = [chat["messages"][-1]["content"] for chat in server.chats]
    assert all("What is the capital of France?".startswith(words) for words in read)
    assert all(chat["max_tokens"] == 1 for chat in server.chats)  # no answer is wanted


def test_reading_stops_when_the_turn_ends(
    run: Callable[..., Any], server: Ollama, moonshine: None
) -> None:
    server.reads_for = 60

    async def main() -> list[Any]:
        _, passed = await asked_aloud()
        await asyncio.sleep(0.1)
        return passed

    assert run(main) == ["question"]
    assert len(server.chats) == server.cancelled == 1


@pytest.mark.parametrize("why", ["off", "elsewhere", "other session", "greeting is read"])
def test_nothing_is_read_ahead(
    run: Callable[..., Any],
    server: Ollama,
    moonshine: None,
    monkeypatch: pytest.MonkeyPatch,
    why: str,
) -> None:
    async def main() -> Any:
        match why:
            case "off":
                monkeypatch.setenv("READ_AHEAD", "off")
            case "elsewhere":
                there = os.environ["OLLAMA_BASE_URL"].replace("127.0.0.1", "127.0.0.1.nip.example")
                monkeypatch.setenv("OLLAMA_BASE_URL", there)
            case "other session":
                ollama.model_of(llm()).sessions = 1
            case "greeting is read":
                server.reads_for = 60
        greeting = [TTSSpeakFrame("Hello!"), SleepFrame(sleep=0.3)] if "greeting" in why else []
        context = LLMContext()
        loader = ModelLoader(llm(), context, STILL_LOADING)
        sent = [*greeting, *question(2)]
        await run_test(Pipeline([Moonshine(), loader]), frames_to_send=sent)
        return loader, ollama.model_of(llm()).sessions

    loader, sessions = run(main)
    assert len(server.chats) == ("greeting" in why)
    assert (loader._ahead is None) == (why in ("off", "elsewhere"))
    assert sessions == (why == "other session")  # this one has ended


def test_the_loader_leaves_other_models_alone() -> None:
    context = LLMContext()

    async def main() -> list[Any]:
        loader = ModelLoader(object(), context, STILL_LOADING)
        assert not loader.delays_answer()
        return await through(loader, TTSSpeakFrame("Hello!"), LLMContextFrame(context))

    assert asyncio.run(main()) == ["Hello!", "question"]
