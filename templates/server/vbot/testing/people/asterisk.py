"""Asterisk's chan_websocket, as a real one behaves that was built in August 2026."""

import asyncio
import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vbot.testing.people.phone import Phone

XOFF, XON, MOST = 900, 800, 1000  # frames of 20 ms in the queue
LONGEST = 65_535  # bytes of a message


@dataclass
class Mark:
    """A place in the queue that the bot asks about."""

    name: str
    after: int  # bytes of the queue


class AsteriskCaller(Phone):
    """Somebody whom an Asterisk connects: it plays from a queue that the bot may flush.

    Attributes:
        cause: Why the call has ended, for the dialplan: 16 after HANGUP, 38 after a connection that
            broke, 0 before.
        commands: What the bot has sent as text.
    """

    path, form, rate, size = "/asterisk", "slin16", 16000, 640
    protocols = ("media",)
    query = "from=%2B15551234567&to=%2B15557654321&channel=PJSIP%2Fcaller-00000001"
    call, password = "1795899695.1", "test-asterisk-password"

    @classmethod
    def hosted_path(cls, token: str) -> str:
        return f"/asterisk/{token}?{cls.query}"

    @classmethod
    def signature(cls, values: Mapping[str, str], address: str) -> dict[str, str]:
        login = base64.b64encode(f"asterisk:{cls.password}".encode()).decode()
        return {"Authorization": f"Basic {login}"}

    async def address(self, http: Any) -> str:
        return f"{self.path}?{self.query}"

    async def start(self) -> None:
        self.cause, self.commands = 0, list[str]()
        self._marks: list[Mark] = []
        self._is_full = False
        await self.ws.send_str(
            f"MEDIA_START connection_id:bot channel:WebSocket/bot/0x7f4664005300 "
            f"channel_id:{self.call} format:{self.form} optimal_frame_size:{self.size} ptime:20"
        )

    async def send_key(self, key: str) -> None:
        await self.ws.send_str(f"DTMF_END digit:{key} channel_id:{self.call}")

    def encoded(self, pcm: bytes) -> bytes:
        return pcm if self.form == "slin16" else super().encoded(pcm)

    def decoded(self, data: bytes) -> bytes:
        return data if self.form == "slin16" else super().decoded(data)

    @property
    def _queued(self) -> int:
        """Frames in the queue."""
        return len(self.queue) // (self.rate // 50 * 2)

    async def send_audio(self, pcm: bytes) -> None:
        if self._is_full and self._queued < XON:
            self._is_full = False
            await self.ws.send_str("MEDIA_XON")
        while self._marks and self._marks[0].after <= 0:
            await self.ws.send_str(f"MEDIA_MARK_PROCESSED {self._marks.pop(0).name}")
        for mark in self._marks:
            mark.after -= len(pcm)
        self.hear(bytes(self.queue[: len(pcm)]))
        del self.queue[: len(pcm)]
        await self.ws.send_bytes(self.encoded(pcm))

    def received(self, data: str | bytes) -> None:
        if isinstance(data, str):
            return self._command(data)
        if len(data) > LONGEST:
            return self._close(38, 1009)
        if self._queued >= MOST:
            return
        self.queue += self.decoded(data[: len(data) // self.size * self.size])
        if self._queued >= XOFF and not self._is_full:
            self._is_full = True
            self._soon(self.ws.send_str("MEDIA_XOFF"))

    def _command(self, text: str) -> None:
        assert len(text) <= 128, text
        self.commands.append(text)
        match text.split(" "):
            case ["HANGUP"]:
                self._close(16, 1000)
            case ["FLUSH_MEDIA"]:
                self.dropped += 1
                del self.queue[:], self._marks[:]
            case ["MARK_MEDIA", name]:
                self._marks.append(Mark(name, len(self.queue)))
            case _:
                raise AssertionError(f"Asterisk does not know {text!r}")

    def _close(self, cause: int, code: int) -> None:
        self.cause = cause
        self._soon(self.ws.close(code=code))

    def _soon(self, sending: Any) -> None:
        self._tasks.append(asyncio.ensure_future(sending))
