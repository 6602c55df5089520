"""Delivers records to RECORDS_WEBHOOK, signed as Standard Webhooks says, at least once.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import asyncio
import base64
import ipaddress
import os
import socket
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

import aiohttp
from loguru import logger
from standardwebhooks import Webhook as Signer

from vbot.records.folder import Folder, id_in, lock, private

# Seconds after each failure, and the last of them from then on.
PAUSES = (5, 60, 300, 900, 1800, 3600, 7200, 14400)
GIVEN_UP_AFTER = 3 * 24 * 3600  # seconds
TIMEOUT = 20.0  # seconds for a request and its answer
MAX_ANSWER = 1_000_000  # bytes that are read of an answer
HOW_TO_MAKE = "`openssl rand -base64 32` prints one, and whsec_ comes before it"


@dataclass
class Attempts:
    """How often a record could not be delivered, and when it is tried again."""

    failures: int = 0
    due: float = 0.0  # Unix time

    def fail(self, now: float) -> None:
        pause = PAUSES[min(self.failures, len(PAUSES) - 1)]
        self.failures, self.due = self.failures + 1, now + pause


class Webhook:
    """Delivers what is in the outbox of a folder, one record at a time.

    Several processes may share a folder: the one that has locked the outbox delivers.

    Args:
        folder: With the records.
        url: Of the receiver.
        secret: With which requests are signed.
        clock: Says the Unix time.
    """

    def __init__(
        self, folder: Folder, url: str, secret: str, clock: Callable[[], float] = time.time
    ):
        self._folder, self._url, self._clock = folder, url, clock
        self._signer = Signer(secret)
        self._attempts: dict[Path, Attempts] = {}
        self._is_failing = False
        self._one_at_a_time = asyncio.Lock()
        self._lock_file: BinaryIO | None = None
        self.timeout = TIMEOUT

    @classmethod
    def from_environment(cls, folder: Folder) -> "Webhook | None":
        url = os.getenv("RECORDS_WEBHOOK")
        return cls(folder, url, os.environ["RECORDS_WEBHOOK_SECRET"]) if url else None

    @staticmethod
    def problems() -> list[str]:
        """Return what is wrong with the variables, if anything is."""
        url = os.getenv("RECORDS_WEBHOOK")
        if not url:
            return []
        found = []
        if wrong := wrong_with(url):
            found.append(f"RECORDS_WEBHOOK in .env {wrong}.")
        kind, _, key = os.getenv("RECORDS_WEBHOOK_SECRET", "").partition("_")
        length = 0
        with suppress(ValueError):
            length = len(base64.b64decode(key, validate=True))
        if kind != "whsec" or not 24 <= length <= 64:
            found.append(
                "Set RECORDS_WEBHOOK_SECRET in .env to whsec_ and 24 to 64 bytes in base64: "
                f"{HOW_TO_MAKE}."
            )
        return found

    async def deliver(self) -> float:
        """Send each record that is due, the oldest first. Return when the next one is due.

        That is in seconds from now. One that fails is tried again later, and holds up no other.
        """
        async with self._one_at_a_time:
            if not self._may_deliver():
                return PAUSES[1]  # another process does
            waiting = self._folder.waiting()
            self._attempts = {path: self._attempts.get(path, Attempts()) for path in waiting}
            async with AsyncExitStack() as stack:
                session: aiohttp.ClientSession | None = None
                for path, attempts in self._attempts.items():
                    if attempts.due <= self._clock():
                        session = session or await stack.enter_async_context(self._session())
                        await self._try(session, path, attempts)
            left = [attempts.due for path, attempts in self._attempts.items() if path.exists()]
            return max(0.0, min(left) - self._clock()) if left else PAUSES[-1]

    def _may_deliver(self) -> bool:
        """Whether this process has locked the outbox. The lock is kept until the process ends."""
        if not self._lock_file:
            file = open(self._folder.outbox / ".lock", "ab", opener=private)
            try:
                lock(file, wait=False)
            except OSError:
                file.close()
                return False
            self._lock_file = file
        return True

    def _session(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=self.timeout),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,  # a short answer may become a long one
        )

    async def _try(self, session: aiohttp.ClientSession, path: Path, attempts: Attempts) -> None:
        try:
            body = path.read_bytes()
        except FileNotFoundError:
            return  # deleted by the command, or because it is old
        id = str(id_in(body)).replace(".", "-")
        try:
            wrong = await self.post(session, body, id)
        except Exception as e:
            wrong = f"cannot be reached: {type(e).__name__} {e}".strip()
        if not wrong:
            path.unlink(missing_ok=True)
            if self._is_failing:
                logger.info("RECORDS_WEBHOOK takes records again")
            self._is_failing = False
            return
        attempts.fail(self._clock())
        if not self._is_failing:
            logger.warning(f"RECORDS_WEBHOOK {wrong}. It is tried again for three days.")
        self._is_failing = True
        if self._clock() - put_at(path) >= GIVEN_UP_AFTER:
            path.unlink(missing_ok=True)
            logger.error(f"Record {id} was not delivered in three days: RECORDS_WEBHOOK {wrong}")

    async def post(self, session: aiohttp.ClientSession, body: bytes, id: str) -> str:
        """Send a record once. Return what is wrong, or "" if the receiver has it."""
        if urlsplit(self._url).scheme == "http":
            loop = asyncio.get_running_loop()
            if wrong := await loop.run_in_executor(None, wrong_with, self._url):
                return wrong
        moment = datetime.fromtimestamp(int(self._clock()), UTC)
        headers = {
            "content-type": "application/json",
            "webhook-id": id,
            "webhook-timestamp": str(int(moment.timestamp())),
            "webhook-signature": self._signer.sign(id, moment, body.decode()),
        }
        async with session.post(
            self._url, data=body, headers=headers, allow_redirects=False
        ) as response:
            answer = await beginning_of(response)
            if 200 <= response.status < 300:
                return ""
            if 300 <= response.status < 400:
                return f"redirects ({response.status}), which is refused"
            return f"answers {response.status} {answer[:200].decode('utf-8', 'replace')!r}"


async def beginning_of(response: aiohttp.ClientResponse) -> bytes:
    """Read an answer, but no more than MAX_ANSWER bytes."""
    text = b""
    with suppress(aiohttp.ClientError, TimeoutError):  # the status has come
        while len(text) < MAX_ANSWER:
            if not (chunk := await response.content.read(MAX_ANSWER - len(text))):
                break
            text += chunk
    return text


def put_at(path: Path) -> float:
    """Return the Unix time at which a record was put into the outbox, as its name says."""
    moment, _, _ = path.name.partition("-")
    return datetime.strptime(moment, "%Y%m%dT%H%M%S%f").replace(tzinfo=UTC).timestamp()


def wrong_with(url: str) -> str:
    """Return why records are not sent to an address, or "" if they are.

    Without https, only to a private one. A name that is not known now may be known later.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return "is not an address"
    if parts.scheme not in ("https", "http") or not host:
        return "must begin with https://"
    if parts.scheme == "https":
        return ""
    try:
        found = socket.getaddrinfo(host, port or 80, type=socket.SOCK_STREAM)
    except OSError:
        return ""
    addresses = [ipaddress.ip_address(str(address[0]).partition("%")[0]) for *_, address in found]
    if all(address.is_private for address in addresses):
        return ""
    return "must begin with https://, because the address is not a private one"
