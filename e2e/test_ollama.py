"""The stand-in of Ollama (lib/ollama.py) loads and unloads its model as Ollama does."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
import pytest

import network
import small_model
from ollama import FOR_EVER, STAYS, Ollama, Runner, seconds, served
from runners import PassedOn, Scripted, Serve, Words
from stand_ins import Unexpected

MODEL = "llama3.2"
ANSWERS = {
    "france": "Paris is the capital of France. You would like it.",
    "tall": "It is more than three hundred metres tall.",
}
FRANCE, TALL = "What is the capital of France?", "And how tall is the tower?"
DAY = 24 * 3600


class Client:
    """A client of the server."""

    def __init__(self, http: aiohttp.ClientSession) -> None:
        self._http = http

    async def get(self, path: str) -> Any:
        async with self._http.get(path) as response:
            return await response.json()

    async def post(self, path: str, **body: Any) -> tuple[int, Any]:
        async with self._http.post(path, json={"model": MODEL} | body) as response:
            return response.status, await response.json()

    async def load(self, **body: Any) -> str:
        """Request a load or an unload of the model; return what was done."""
        status, answer = await self.post("/api/generate", **body)
        assert status == 200, answer
        return answer["done_reason"]

    async def ask(self, *said: str, **body: Any) -> str:
        """Say that after the questions and answers before it."""
        roles = ("user", "assistant")
        messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(said)]
        status, answer = await self.post("/v1/chat/completions", messages=messages, **body)
        assert status == 200, answer
        return answer["choices"][0]["message"]["content"]

    async def running(self) -> list[str]:
        return [model["name"] for model in (await self.get("/api/ps"))["models"]]


@contextlib.asynccontextmanager
async def client(ollama: Ollama) -> AsyncIterator[Client]:
    async with served(ollama, 0) as url:
        async with aiohttp.ClientSession(url.removesuffix("/v1")) as http:
            yield Client(http)


def talk(
    main: Callable[[Ollama, Client], Awaitable[None]], load_takes: float = 0, stays: float = STAYS
) -> None:
    """With a server whose model writes what it is given, at once."""

    async def run() -> None:
        ollama = Ollama(MODEL, Words(ANSWERS), load_takes, stays)
        async with client(ollama) as person:
            await main(ollama, person)

    asyncio.run(run())


def test_durations() -> None:
    assert [seconds(text) for text in (None, "24h", "1h30m", "1.5s", 90, 0, "0")] == [
        *(None, DAY, 5400, 1.5, 90, 0, 0)
    ]
    assert seconds(-1) == seconds("-1m") == FOR_EVER
    for wrong in ("300", "", "24 h", "h"):
        with pytest.raises(Unexpected):
            seconds(wrong)


def test_a_load_ends_with_who_asked_for_it() -> None:
    async def main(ollama: Ollama, person: Client) -> None:
        first = asyncio.create_task(person.load())
        await asyncio.sleep(0.1)
        others = [asyncio.create_task(person.ask(FRANCE)) for _ in range(2)]
        await asyncio.sleep(0.1)
        assert ollama.loading and await person.running() == []
        first.cancel()
        assert set(await asyncio.gather(*others)) == {ANSWERS["france"]}
        assert (len(ollama.loads), ollama.aborted, ollama.finished) == (2, 1, 1)
        begun, ended = ollama.loads[1].begun, ollama.loads[1].ended
        assert ended - begun >= 0.5 and begun >= ollama.loads[0].ended
        assert await person.running() == [f"{MODEL}:latest"]

    talk(main, load_takes=0.5)


def test_a_client_that_hangs_up_in_line_begins_no_load() -> None:
    async def main(ollama: Ollama, person: Client) -> None:
        first = asyncio.create_task(person.load())
        await asyncio.sleep(0.1)
        second = asyncio.create_task(person.ask(FRANCE))
        await asyncio.sleep(0.1)
        second.cancel()
        assert await first == "load"
        assert len(ollama.loads) == 1

    talk(main, load_takes=0.5)


def test_how_long_a_model_stays() -> None:
    async def main(ollama: Ollama, person: Client) -> None:
        async def gone_within(limit: float) -> bool:
            await asyncio.sleep(limit)
            return not ollama.loaded

        await person.ask(FRANCE, keep_alive="24h")  # which this interface does not know
        assert ollama.loaded and ollama.loaded.stays == 0.3
        assert await gone_within(0.4)
        await person.load(keep_alive="24h")
        await person.ask(FRANCE)
        await person.load()
        assert ollama.loaded and ollama.loaded.stays == DAY
        assert not await gone_within(0.4)
        await ollama.evict()
        await person.ask(FRANCE)
        assert ollama.loaded and ollama.loaded.stays == 0.3
        await person.load(keep_alive=-1)
        await ollama.restart()
        assert not ollama.loaded and await person.load() == "load"
        assert ollama.loaded and ollama.loaded.stays == 0.3
        assert await person.load(keep_alive=0) == "unload"
        assert await person.running() == []
        assert ollama.finished == len(ollama.loads) == 4

    talk(main, stays=0.3)


def test_nobody_is_cut_off_by_another_model() -> None:
    async def main(ollama: Ollama, person: Client) -> None:
        assert isinstance(ollama.runner, Words)
        ollama.runner.pause = 0.05
        answer = asyncio.create_task(person.ask(FRANCE))
        await asyncio.sleep(0.2)
        await ollama.evict()
        assert answer.done() and await answer == ANSWERS["france"]
        assert not ollama.loaded
        answer = asyncio.create_task(person.ask(FRANCE))
        await asyncio.sleep(0.2)
        await ollama.restart()
        with pytest.raises(aiohttp.ClientError):
            await answer

    talk(main)


def test_what_is_missing() -> None:
    async def main(ollama: Ollama, person: Client) -> None:
        said = "model 'gpt-oss' not found"
        assert await person.post("/api/generate", model="gpt-oss") == (404, {"error": said})
        messages = [{"role": "user", "content": FRANCE}]
        status, answer = await person.post(
            "/v1/chat/completions", model="gpt-oss", messages=messages
        )
        assert (status, answer["error"]["message"]) == (404, said)
        assert [model["name"] for model in (await person.get("/api/tags"))["models"]] == [
            f"{MODEL}:latest"
        ]
        assert set(await person.get("/api/version")) == {"version"}
        ollama.failure = "model requires more system memory (3.3 GiB) than is available (1.2 GiB)"
        assert await person.post("/api/generate") == (500, {"error": ollama.failure})
        status, answer = await person.post("/v1/chat/completions", messages=messages)
        assert (status, answer["error"]["message"]) == (500, ollama.failure)
        assert (ollama.aborted, ollama.finished) == (2, 0)

    talk(main)


@pytest.fixture(scope="module")
def serve() -> Serve:
    files = small_model.installed_model()
    return lambda: small_model.served(files)


@pytest.mark.parametrize("kind", ["own", "given"])
def test_a_real_model(serve: Serve, kind: str) -> None:
    """It is in memory while it is loaded, and reads of a conversation only what is new."""
    scripted = Scripted(serve, ANSWERS)
    runner: Runner = PassedOn(serve) if kind == "own" else scripted

    async def run() -> None:
        ollama = Ollama(MODEL, runner)
        async with client(ollama) as person:
            answer = await person.ask(FRANCE)
            assert "Paris" in answer
            if kind == "given":
                assert answer == ANSWERS["france"]
                assert await person.ask(FRANCE, answer, TALL) == ANSWERS["tall"]
                first, second = scripted.exchanges
                assert first.read == first.prompt
                assert second.read < 20 < second.prompt - first.prompt
                assert first.begun < first.first_word < first.first_sentence < first.ended
            await person.load(keep_alive=0)

    network.run(run)
