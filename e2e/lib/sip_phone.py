"""A SIP telephone, for a PBX on the same machine that asks for no password: RFC 3261 and RFC 4733.

It speaks and hears u-law at 8 kHz. `heard` is what its person hears, in real time, and `sent` all
that came, without the gaps.
"""

import asyncio
import contextlib
import random
import re
import struct
import uuid
from collections.abc import AsyncIterator
from typing import Any

import speech
from caller import EAR, Caller, until
from vbot.testing.people.phone import audioop

HOST = "127.0.0.1"
ULAW, KEYS = 0, 101  # payload types
FRAME = 160  # samples of 20 ms


class Protocol(asyncio.DatagramProtocol):
    def __init__(self, take: Any) -> None:
        self.take = take

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.take(data, addr)


class SipPhone(Caller):
    rate = 8000

    def __init__(self, number: str, port: int, rings: float = 0.2) -> None:
        super().__init__()
        self.number, self.port, self.rings = number, port, rings
        self.talks = asyncio.Event()  # the call is answered
        self.gone = asyncio.Event()  # the other side has hung up, or refused the call
        self.shows = ""  # who calls
        self.sent = bytearray()
        self._queue = bytearray()  # that came, and was not heard yet
        self._call_id, self._tag = uuid.uuid4().hex, uuid.uuid4().hex[:8]
        self._from = self._to = self._contact = ""
        self._media: tuple[str, int] | None = None
        self._sequence, self._time = random.randrange(1000), random.randrange(1000)
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def media_port(self) -> int:
        return 10 * self.port

    async def open(self) -> None:
        loop, local = asyncio.get_running_loop(), (HOST, self.port)
        self._sip, _ = await loop.create_datagram_endpoint(lambda: Protocol(self._signal), local)
        local = (HOST, self.media_port)
        self._rtp, _ = await loop.create_datagram_endpoint(lambda: Protocol(self._sound), local)
        self._tasks.append(asyncio.create_task(self._speak()))

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._sip.close()
        self._rtp.close()
        await asyncio.sleep(0)  # closes the sockets, so that the ports are free

    def sound(self) -> bytes:
        return speech.resample(bytes(self.sent), self.rate, EAR)

    # Signals.

    async def call(self, extension: str, pbx: int = 5060) -> None:
        """Call an extension, and wait until somebody answers."""
        self._pbx = (HOST, pbx)
        self._uri = f"sip:{extension}@{HOST}:{pbx}"
        self._from = f'"Anna" <sip:{self.number}@{HOST}:{self.port}>;tag={self._tag}'
        self._to = f"<{self._uri}>"
        self._request("INVITE", 1, self._description())
        await until(lambda: self.talks.is_set() or self.gone.is_set(), 20)
        assert self.talks.is_set(), "nobody answers"

    async def hang_up(self) -> None:
        if self.talks.is_set() and not self.gone.is_set():
            self._request("BYE", 2)
            self.gone.set()
            await asyncio.sleep(0.2)

    def _request(self, method: str, sequence: int, body: str = "") -> None:
        uri = self._contact or self._uri
        head = (
            f"{method} {uri} SIP/2.0\r\n"
            f"Via: SIP/2.0/UDP {HOST}:{self.port};branch=z9hG4bK{uuid.uuid4().hex}\r\n"
            f"From: {self._from}\r\nTo: {self._to}\r\nCall-ID: {self._call_id}\r\n"
            f"CSeq: {sequence} {method}\r\nContact: <sip:{self.number}@{HOST}:{self.port}>\r\n"
            f"Max-Forwards: 70\r\n"
        )
        self._send(head, body)

    def _send(self, head: str, body: str) -> None:
        kind = "Content-Type: application/sdp\r\n" if body else ""
        text = f"{head}{kind}Content-Length: {len(body)}\r\n\r\n{body}"
        self._sip.sendto(text.encode(), self._pbx)

    def _description(self) -> str:
        return (
            f"v=0\r\no=u 1 1 IN IP4 {HOST}\r\ns=-\r\nc=IN IP4 {HOST}\r\nt=0 0\r\n"
            f"m=audio {self.media_port} RTP/AVP {ULAW} {KEYS}\r\na=rtpmap:{ULAW} PCMU/8000\r\n"
            f"a=rtpmap:{KEYS} telephone-event/8000\r\na=fmtp:{KEYS} 0-16\r\na=sendrecv\r\n"
        )

    def _signal(self, data: bytes, addr: tuple[str, int]) -> None:
        head, _, body = data.decode().partition("\r\n\r\n")
        first, *lines = head.split("\r\n")
        fields = {}
        for line in lines:
            name, _, value = line.partition(":")
            fields.setdefault(name.lower(), value.strip())
        if found := re.search(r"m=audio (\d+)", body):
            self._media = (HOST, int(found[1]))
        if contact := re.search(r"<(.*?)>", fields.get("contact", "")):
            self._contact = contact[1]
        if first.startswith("SIP/2.0"):
            self._response(int(first.split()[1]), fields)
        else:
            self._pbx = addr
            self._asked(first.split()[0], fields, lines)

    def _response(self, status: int, fields: dict[str, str]) -> None:
        if "INVITE" not in fields["cseq"] or status < 200:
            return
        self._to = fields["to"]
        self._request("ACK", 1)
        (self.talks if status == 200 else self.gone).set()

    def _asked(self, method: str, fields: dict[str, str], lines: list[str]) -> None:
        vias = "".join(f"{line}\r\n" for line in lines if line.lower().startswith("via:"))

        def respond(status: str, body: str = "") -> None:
            own = "" if "tag=" in fields["to"] else f";tag={self._tag}"
            self._send(
                f"SIP/2.0 {status}\r\n{vias}From: {fields['from']}\r\nTo: {fields['to']}{own}\r\n"
                f"Call-ID: {fields['call-id']}\r\nCSeq: {fields['cseq']}\r\n"
                f"Contact: <sip:{self.number}@{HOST}:{self.port}>\r\n",
                body,
            )

        async def answer() -> None:
            respond("180 Ringing")
            await asyncio.sleep(self.rings)
            self._call_id, self._to = fields["call-id"], fields["from"]
            self._from = f"{fields['to']};tag={self._tag}"
            respond("200 OK", self._description())
            self.talks.set()

        match method:
            case "INVITE" if self.talks.is_set():  # again: Asterisk changes the media
                respond("200 OK", self._description())
            case "INVITE":
                self.shows = re.sub(r".*<sips?:(.*?)@.*", r"\1", fields["from"])
                self._tasks.append(asyncio.create_task(answer()))
            case "BYE" | "CANCEL":
                self.gone.set()
                respond("200 OK")
            case "OPTIONS":
                respond("200 OK")

    # Sound.

    def _packet(self, kind: int, payload: bytes, marker: bool, time: int) -> None:
        self._sequence = self._sequence + 1 & 0xFFFF
        head = struct.pack(">BBHII", 0x80, kind | marker << 7, self._sequence, time, 1)
        if self._media and self.talks.is_set() and not self.gone.is_set():
            self._rtp.sendto(head + payload, self._media)

    def _sound(self, data: bytes, addr: tuple[str, int]) -> None:
        if data[1] & 0x7F == ULAW:
            pcm = audioop.ulaw2lin(data[12:], 2)
            self.sent += pcm
            self._queue += pcm

    async def _speak(self) -> None:
        now = asyncio.get_running_loop().time
        started, count = now(), 0
        while True:
            if self.talks.is_set() and not self.gone.is_set():
                played = bytes(self._queue[: 2 * FRAME]).ljust(2 * FRAME, b"\0")
                del self._queue[: 2 * FRAME]
                self.heard += speech.resample(played, self.rate, EAR)
                self._time += FRAME
                self._packet(ULAW, audioop.lin2ulaw(self.breath(), 2), False, self._time)
            count += 1
            await asyncio.sleep(max(0.0, started + count / 50 - now()))

    async def press(self, key: str) -> None:
        """Press a key for 100 ms (RFC 4733)."""
        event, began = "0123456789*#".index(key), self._time
        for n in range(1, 9):
            last = 0x80 if n > 5 else 0
            payload = struct.pack(">BBH", event, last | 10, min(n, 6) * FRAME)
            self._packet(KEYS, payload, n == 1, began)
            await asyncio.sleep(0.02)


@contextlib.asynccontextmanager
async def telephone(number: str, port: int, **options: Any) -> AsyncIterator[SipPhone]:
    """A telephone that takes calls at this port, and hangs up at the end."""
    phone = SipPhone(number, port, **options)
    await phone.open()
    try:
        yield phone
    finally:
        await phone.hang_up()
        await phone.close()
