"""What people who call by telephone have in common."""

import array
import asyncio
import audioop
import base64
import json
import math
from typing import Any

from person import SocketPerson

ROWS, COLUMNS = (697, 770, 852, 941), (1209, 1336, 1477)  # Hz of the two tones of a key
KEYS = "123456789*0#"


def key_in(pcm: bytes, rate: int) -> str:
    """The key whose two tones are the sound, or ""."""
    samples = array.array("h", pcm)
    whole = sum(sample * sample for sample in samples) * len(samples) / 2 + 1

    def share(hertz: int) -> float:
        turn = math.tau * hertz / rate
        real = sum(sample * math.cos(turn * n) for n, sample in enumerate(samples))
        imaginary = sum(sample * math.sin(turn * n) for n, sample in enumerate(samples))
        return (real * real + imaginary * imaginary) / whole

    row, column = (max((share(hertz), n) for n, hertz in enumerate(two)) for two in (ROWS, COLUMNS))
    is_key = min(row, column)[0] > 0.1 and row[0] + column[0] > 0.7
    return KEYS[3 * row[1] + column[1]] if is_key else ""


class Phone(SocketPerson):
    """A caller, as the carrier passes on what is said: 20 ms of mu-law at a time."""

    path = "/ws"
    rate = 8000
    size = 160  # bytes of the audio that the carrier sends at once
    clear: dict[str, Any]  # the message that drops what was not played yet
    dropped = 0  # how often the bot was interrupted

    async def begin(self) -> None:
        self._sequence = self._sent = 0
        self._unsent = bytearray()
        self.queue = bytearray()  # what the carrier has not played yet
        await self.start()

    async def start(self) -> None:
        raise NotImplementedError

    async def send_media(self, payload: str, number: int) -> None:
        time = str(number * 20)
        media = {"track": "inbound", "chunk": str(number), "timestamp": time, "payload": payload}
        await self._send("media", media=media)

    async def _send(self, event: str, **rest: Any) -> None:
        raise NotImplementedError

    async def presses(self, keys: str) -> None:
        """Press these keys, one after the other."""
        for key in keys:
            await self.send_key(key)
            await asyncio.sleep(0.1)

    async def send_key(self, key: str) -> None:
        await self._send("dtmf", dtmf={"digit": key})

    def keys_heard(self) -> str:
        """The keys whose tones the bot has sent, as a telephone system hears them."""
        size, keys, last = 2 * (self.rate // 25), "", ""
        for at in range(0, len(self.heard) - size, size):
            key = key_in(bytes(self.heard[at : at + size]), self.rate)
            keys += key if key != last else ""
            last = key
        return keys

    def media(self, message: dict[str, Any]) -> str:
        """The audio in a message of the bot, in base64."""
        raise NotImplementedError

    def encoded(self, pcm: bytes) -> bytes:
        return audioop.lin2ulaw(pcm, 2)

    def decoded(self, data: bytes) -> bytes:
        return audioop.ulaw2lin(data, 2)

    def number(self) -> int:
        """The number of the next message."""
        self._sequence += 1
        return self._sequence

    async def send_audio(self, pcm: bytes) -> None:
        self.hear(bytes(self.queue[: len(pcm)]))
        del self.queue[: len(pcm)]
        self._unsent += self.encoded(pcm)
        if len(self._unsent) >= self.size:
            self._sent += 1
            payload = base64.b64encode(self._unsent).decode()
            self._unsent.clear()
            await self.send_media(payload, self._sent)

    def received(self, data: str) -> None:
        message = json.loads(data)
        if message == self.clear:
            self.dropped += 1
            self.queue.clear()
        else:
            self.queue += self.decoded(base64.b64decode(self.media(message)))
