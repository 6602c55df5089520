"""Records what happens in each session, in the folder that RECORDS in .env names.

Each session leaves one JSON object (schema.json) in a file of its day, and RECORDS_WEBHOOK gets it.
`uv run -m vbot.records` shows them. Everything that touches the disk or the network runs in threads
of its own, and what fails there is logged: no session waits for it.
"""

import asyncio
import contextlib
import os
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loguru import logger
from pipecat.runner.types import RunnerArguments
from pipecat.transports.base_transport import BaseTransport

from vbot.records.folder import KEPT_DAYS, Fields, Folder, Running
from vbot.records.session import SERVER, Record

if TYPE_CHECKING:
    from vbot.conversation import Conversation
    from vbot.records.webhook import Webhook

CLEANS_EVERY = 3600  # seconds
LOOKS_EVERY = 30  # seconds, for records that another process has left in the outbox
STOP_TAKES = 20  # seconds, at most, in which the last records are written and delivered

current: ContextVar[Record | None] = ContextVar("current", default=None)  # that the session fills


def folder_path() -> Path:
    """Return the folder that RECORDS names. A relative path is one in server/."""
    return SERVER / os.environ["RECORDS"]


def problems() -> list[str]:
    """Return what is wrong with the variables, or with the folder, if anything is."""
    if "RECORDS" not in os.environ:
        if "RECORDS_WEBHOOK" in os.environ:
            return ["Set RECORDS in .env to a folder: the webhook's records wait there."]
        return []
    from vbot.records.webhook import Webhook

    found = Webhook.problems()
    try:
        Folder(folder_path()).make()
    except OSError as e:
        found.append(
            f"RECORDS in .env is {os.environ['RECORDS']!r}, where the bot cannot write: {e}."
        )
    return found


class Keeper:
    """Writes, cleans and delivers the records of this process, in threads of its own."""

    def __init__(self) -> None:
        self._folder = Folder(folder_path(), delivers="RECORDS_WEBHOOK" in os.environ)
        self._days = int(os.getenv("RECORDS_KEPT_DAYS", KEPT_DAYS))
        self._writer = ThreadPoolExecutor(1, "records")
        self._loop = asyncio.new_event_loop()
        self._has_new = asyncio.Event()
        self._webhook: Webhook | None = None
        self.cleaned = self._writer.submit(self._clean)
        threading.Thread(target=self._run, name="records-webhook", daemon=True).start()

    def begin(self, record: Fields) -> "Future[Running | None]":
        """Note that a session runs, so that it is found if this process is killed."""
        return self._writer.submit(self._begin, record)

    def _begin(self, record: Fields) -> Running | None:
        try:
            self._folder.make()
            return self._folder.begin(record)
        except Exception as e:
            logger.error(f"Session {record['id']} will have no record if it is killed: {e}")
            return None

    def end(self, record: Fields, session: str | None, begun: "Future[Running | None]") -> None:
        """Write the record of a session that has ended."""
        self._writer.submit(self._end, record, session, begun)

    def _end(self, record: Fields, session: str | None, begun: "Future[Running | None]") -> None:
        try:
            record["recording"] = recording_of(session)
            self._folder.end(record, begun.result())
        except Exception as e:
            logger.error(f"The record of session {record['id']} could not be written: {e}")
        self._loop.call_soon_threadsafe(self._has_new.set)

    def _clean(self) -> None:
        try:
            self._folder.make()
            if found := self._folder.recover():
                logger.warning(f"{found} sessions were interrupted, because their bot was killed")
            self._folder.clean(self._days)
        except Exception as e:
            logger.error(f"The records in {self._folder.path} cannot be cleaned: {e}")

    def _run(self) -> None:
        self._loop.run_until_complete(self._look_after())

    async def _look_after(self) -> None:
        """Deliver records, and clean the folder every hour."""
        from vbot.records.webhook import Webhook

        cleaned_at = self._loop.time()
        self._webhook = Webhook.from_environment(self._folder)
        while True:
            self._has_new.clear()
            wait: float = CLEANS_EVERY
            if self._webhook:
                wait = min(await self._deliver(), LOOKS_EVERY)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._has_new.wait(), wait)
            if self._loop.time() - cleaned_at >= CLEANS_EVERY:
                cleaned_at = self._loop.time()
                self._writer.submit(self._clean)

    async def _deliver(self) -> float:
        try:
            return await self._webhook.deliver() if self._webhook else LOOKS_EVERY
        except Exception as e:
            logger.error(f"Records cannot be delivered: {e}")
            return LOOKS_EVERY

    def stop(self) -> None:
        """Write the last records, and try to deliver those that are due."""

        async def write_and_deliver() -> None:
            await asyncio.wrap_future(self._writer.submit(lambda: None))
            await self._deliver()

        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(write_and_deliver(), self._loop).result(STOP_TAKES)


@cache
def keeper() -> Keeper:
    """Return the one of this process, which starts with the first call."""
    return Keeper()


def start() -> None:
    """Find sessions whose bot was killed, and deliver what waits, if RECORDS is set."""
    if "RECORDS" in os.environ:
        keeper().cleaned.result()


def stop() -> None:
    """Write and deliver the last records, before the program ends."""
    if "RECORDS" in os.environ:
        keeper().stop()


@contextlib.contextmanager
def harmless() -> Iterator[None]:
    """Log what fails. A session is never different because it is recorded."""
    try:
        yield
    except Exception as e:
        logger.exception(f"The session is not recorded: {e}")


def begin(arguments: RunnerArguments, transport: BaseTransport) -> None:
    """Record the session that the running task serves, if RECORDS is set."""
    task = asyncio.current_task()
    if "RECORDS" not in os.environ or not task:
        return
    with harmless():
        record = Record(arguments, transport)
        begun = keeper().begin(record.fields())
        current.set(record)

        def finish(task: "asyncio.Task[Any]") -> None:
            with harmless():
                record.finish(task)
                keeper().end(record.fields(), arguments.session_id, begun)

        task.add_done_callback(finish)


def follow(conversation: "Conversation", with_transcript: bool) -> None:
    """Record the conversation of the session, which begins."""
    record = current.get()
    if record and record.arguments is conversation.runner_args:
        with harmless():
            record.follow(conversation, with_transcript)


def host_says(why: str) -> None:
    """Take note of why hosting/ ended the session of the running task."""
    if record := current.get():
        record.host_says(why)


def recording_of(session: str | None) -> str | None:
    """Return the recording of a session with this id, if there is one."""
    found = sorted(recordings(session)) if session else []
    return str(found[-1].relative_to(SERVER)) if found else None


def recordings(session: str) -> list[Path]:
    """Return the files in recordings/ whose names end with the session's id."""
    files = (SERVER / "recordings").glob("*.wav")
    return [path for path in files if path.name.endswith(f"-{session}.wav")]
