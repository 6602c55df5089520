"""Each record reaches the receiver at least once, whatever the receiver does meanwhile."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from standardwebhooks import Webhook as Verifier

from fakes import passing
from vbot import records
from vbot.records import webhook
from vbot.records.folder import Folder
from vbot.records.webhook import GIVEN_UP_AFTER, MAX_ANSWER, PAUSES, Webhook

SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="


def put(folder: Folder, *ids: str) -> None:
    for id in ids:
        folder.end({"id": id, "started_at": "2026-11-28T09:00:00.000Z", "problems": ["ä"]}, None)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    monkeypatch.setattr("os.fsync", lambda number: None)  # 1,000 records in seconds
    folder = Folder(tmp_path, delivers=True)
    folder.make()
    return folder


class Receiver:
    """Checks signatures, and answers as `answer` says."""

    def __init__(self) -> None:
        self.got: list[str] = []
        self.headers: list[Any] = []
        self.answer: Callable[[str], Any] = lambda id: web.Response()
        self.now = self.most = 0  # requests at a time
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            body = await request.read()
            record = Verifier(SECRET).verify(body, dict(request.headers))
            assert request.content_type == "application/json" and record["problems"] == ["ä"]
            assert request.headers["webhook-id"] == record["id"].replace(".", "-")
            self.got.append(record["id"])
            answer = self.answer(record["id"])
            return await answer if asyncio.iscoroutine(answer) else answer
        finally:
            self.now -= 1


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    it = Receiver()
    app = web.Application()
    app.router.add_post("/", it.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    it.url = f"http://127.0.0.1:{runner.addresses[0][1]}/"
    yield it
    await runner.cleanup()


async def test_a_record_is_delivered_and_signed(folder: Folder, receiver: Receiver) -> None:
    put(folder, "10-0-0-1.a", "b")
    hook = Webhook(folder, receiver.url, SECRET)
    assert await hook.deliver() == PAUSES[-1]  # nothing waits
    assert receiver.got == ["10-0-0-1.a", "b"] and folder.waiting() == []
    await hook.deliver()
    assert len(receiver.got) == 2


async def test_a_thousand_records_and_a_receiver_that_fails_every_third_request(
    folder: Folder, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(folder, *(str(number) for number in range(1000)))
    answers = Counter[bool]()

    def answer(id: str) -> web.Response:
        answers[True] += 1
        failed = answers[True] % 3 == 0
        if not failed:
            taken.add(id)
        return web.Response(status=500 if failed else 204)

    taken: set[str] = set()
    receiver.answer = answer
    monkeypatch.setattr(webhook, "PAUSES", (0.0,))
    hook, rounds = Webhook(folder, receiver.url, SECRET), 0
    while folder.waiting() and rounds < 20:
        await hook.deliver()
        rounds += 1
    assert taken == {str(number) for number in range(1000)} == set(receiver.got)
    assert receiver.got[:1000] == [str(number) for number in range(1000)]  # in order of age
    assert receiver.most == 1
    assert len(receiver.got) == 1000 + answers[True] // 3


def test_an_hour_without_the_receiver(folder: Folder, log: list[str]) -> None:
    """And a record that it never takes. Neither holds up the others, also after a restart."""
    put(folder, *(str(number) for number in range(20)))
    tries: list[tuple[float, str]] = []
    began = time.time()

    class Simulated(Webhook):
        async def post(self, session: aiohttp.ClientSession, body: bytes, id: str) -> str:
            moment = asyncio.get_running_loop().time()
            tries.append((moment - start, id))
            if moment - start < 3600:
                raise ConnectionRefusedError("nobody listens")
            return "answers 400 b''" if id == "3" else ""

    async def run(restarts: int) -> None:
        nonlocal start
        clock = asyncio.get_running_loop()
        start = start or clock.time()
        for _ in range(restarts):
            hook = Simulated(folder, "https://x", SECRET, lambda: began + clock.time() - start)
            for _ in range(3):
                await asyncio.sleep(await hook.deliver())
            assert hook._lock_file
            hook._lock_file.close()
        hook = Simulated(folder, "https://x", SECRET, lambda: began + clock.time() - start)
        while folder.waiting():
            await asyncio.sleep(await hook.deliver())

    start = 0.0
    passing(run(restarts=2))
    taken = {id: moment for moment, id in tries}  # the last try of each
    assert set(taken) == {str(number) for number in range(20)}
    others = [taken[id] for id in taken if id != "3"]
    assert 3600 <= min(others) and max(others) < 2 * 3600
    assert taken["3"] >= GIVEN_UP_AFTER
    assert len([id for _, id in tries if id == "3"]) < 40
    assert len([line for line in log if "is tried again for three days" in line]) <= 5
    assert "RECORDS_WEBHOOK takes records again" in log
    assert log[-1].startswith("Record 3 was not delivered in three days: RECORDS_WEBHOOK answers")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda id: web.Response(status=500, text="out\nof order"), r"answers 500 'out\nof order'"),
        (
            lambda id: web.Response(status=307, headers={"location": "http://127.0.0.1:1/"}),
            "redirects (307), which is refused",
        ),
        (lambda id: asyncio.sleep(30), "cannot be reached: TimeoutError"),
    ],
)
async def test_what_is_no_delivery(
    answer: Any, said: str, folder: Folder, receiver: Receiver, log: list[str]
) -> None:
    put(folder, "bad", "good")
    receiver.answer = lambda id: answer(id) if id == "bad" else web.Response()
    hook = Webhook(folder, receiver.url, SECRET)
    hook.timeout = 0.5
    wait = await hook.deliver()
    assert 0 < wait <= PAUSES[0]
    assert receiver.got == ["bad", "good"]  # which is not held up
    assert [webhook.id_in(path.read_bytes()) for path in folder.waiting()] == ["bad"]
    assert f"RECORDS_WEBHOOK {said}. It is tried again for three days." in log


async def test_an_answer_without_end(folder: Folder, receiver: Receiver) -> None:
    """It is read to 1 MB, and its status counts."""
    put(folder, "one")
    sent = 0

    async def endless(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"x" * 100_000)
            sent += 100_000

    async def handle(request: web.Request) -> web.StreamResponse:
        await request.read()
        return await endless(request)

    app = web.Application()
    app.router.add_post("/", handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    hook = Webhook(folder, f"http://127.0.0.1:{runner.addresses[0][1]}/", SECRET)
    began = time.monotonic()
    await hook.deliver()
    assert time.monotonic() - began < 5 and folder.waiting() == []
    assert sent < 20 * MAX_ANSWER
    await runner.cleanup()


async def test_an_answer_that_comes_twice(folder: Folder) -> None:
    """The second is not taken for the answer to the next request."""
    put(folder, "a", "b", "c")
    requests: list[bytes] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            requests.append(await reader.readexactly(length))
            status = b"500 No" if len(requests) == 2 else b"200 OK"
            answer = b"HTTP/1.1 " + status + b"\r\ncontent-length: 0\r\n\r\n"
            writer.write(answer * 2)
            await writer.drain()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    hook = Webhook(folder, f"http://127.0.0.1:{port}/", SECRET)
    await hook.deliver()
    assert [json.loads(one)["id"] for one in requests] == ["a", "b", "c"]
    assert [webhook.id_in(path.read_bytes()) for path in folder.waiting()] == ["b"]
    server.close()


@pytest.fixture
def delivering(folder: Folder, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECORDS", str(folder.path))
    monkeypatch.setenv("RECORDS_WEBHOOK", receiver.url)
    monkeypatch.setenv("RECORDS_WEBHOOK_SECRET", SECRET)
    records.keeper.cache_clear()


async def test_a_bot_delivers_what_waits_and_what_comes(
    folder: Folder, receiver: Receiver, delivering: None
) -> None:
    put(folder, "of-yesterday")
    assert records.problems() == []
    records.start()
    fields = {"id": "new", "started_at": "2026-11-28T09:00:00.000Z", "problems": ["ä"]}
    begun = records.keeper().begin(fields)
    records.keeper().end(fields, None, begun)
    async with asyncio.timeout(20):
        while len(receiver.got) < 2 or folder.waiting():
            await asyncio.sleep(0.02)
    assert receiver.got == ["of-yesterday", "new"] and not list(folder.running.iterdir())


async def test_the_last_records_are_delivered_before_a_bot_stops(
    folder: Folder, receiver: Receiver, delivering: None
) -> None:
    records.start()
    receiver.answer = lambda id: asyncio.sleep(0.5, web.Response())  # others are on their way
    for id in ("one", "two"):
        fields = {"id": id, "started_at": "2026-11-28T09:00:00.000Z", "problems": ["ä"]}
        records.keeper().end(fields, None, records.keeper().begin(fields))
    await asyncio.to_thread(records.stop)
    assert receiver.got == ["one", "two"] and receiver.most == 1 and folder.waiting() == []


async def test_a_bot_that_stops_waits_for_no_receiver_that_hangs(
    folder: Folder, receiver: Receiver, delivering: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "STOP_TAKES", 0.5)
    records.start()
    receiver.answer = lambda id: asyncio.sleep(30)
    fields = {"id": "one", "started_at": "2026-11-28T09:00:00.000Z", "problems": ["ä"]}
    records.keeper().end(fields, None, records.keeper().begin(fields))
    began = time.monotonic()
    await asyncio.to_thread(records.stop)
    assert time.monotonic() - began < 5
    assert len(folder.waiting()) == 1  # for the next start


async def test_one_process_delivers(folder: Folder, receiver: Receiver) -> None:
    put(folder, "one")
    first, second = (Webhook(folder, receiver.url, SECRET) for _ in range(2))
    assert first._may_deliver()
    await second.deliver()
    assert receiver.got == []
    assert first._lock_file
    first._lock_file.close()  # as when its process ends
    await second.deliver()
    assert receiver.got == ["one"]


async def test_a_record_that_is_deleted_meanwhile(folder: Folder, receiver: Receiver) -> None:
    put(folder, "one", "two", "three")

    def answer(id: str) -> web.Response:
        folder.delete("two")
        return web.Response()

    receiver.answer = answer
    await Webhook(folder, receiver.url, SECRET).deliver()
    assert receiver.got == ["one", "three"] and folder.waiting() == []


@pytest.mark.parametrize(
    ("url", "wrong"),
    [
        ("https://example.com/records", ""),
        ("http://127.0.0.1:8080", ""),
        ("http://10.0.0.7/records", ""),
        ("http://[::1]/", ""),
        ("http://no-such-name.invalid/", ""),  # it may be known later
        ("http://93.184.215.14/", "must begin with https://, because the address is not private"),
        ("ftp://example.com", "must begin with https://"),
        ("example.com", "must begin with https://"),
        ("https://[::1", "is not an address"),
    ],
)
def test_addresses(url: str, wrong: str) -> None:
    assert webhook.wrong_with(url).replace("a private one", "private") == wrong


async def test_a_public_address_without_https_gets_nothing(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, log: list[str]
) -> None:
    """Also if its name was a private one's when the bot started."""
    put(folder, "one")
    found = [(2, 1, 6, "", ("93.184.215.14", 80))]
    monkeypatch.setattr("socket.getaddrinfo", lambda *args, **options: found)
    await Webhook(folder, "http://receiver.example/", SECRET).deliver()
    assert len(folder.waiting()) == 1 and "because the address is not a private one" in log[0]


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_c2hvcnQ=", "MDEyMzQ1Njc4OWFi", "whsec_ü"])
def test_a_secret_that_cannot_be_right(secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECORDS_WEBHOOK", "https://example.com")
    monkeypatch.setenv("RECORDS_WEBHOOK_SECRET", secret)
    [problem] = Webhook.problems()
    assert problem.startswith("Set RECORDS_WEBHOOK_SECRET in .env to whsec_ and 24 to 64 bytes")
    monkeypatch.setenv("RECORDS_WEBHOOK_SECRET", SECRET)
    assert Webhook.problems() == []
