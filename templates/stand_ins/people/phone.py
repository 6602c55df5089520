"""What people who call by telephone have in common."""

import audioop
import base64
import json
from typing import Any

from person import SocketPerson


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
