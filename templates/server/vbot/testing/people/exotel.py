"""https://developer.exotel.com/docs/agentstream/websocket-protocol"""

from typing import Any

from vbot.testing.people.phone import Phone


class ExotelCaller(Phone):
    """Somebody who calls by Exotel: it passes on 100 ms of samples at a time, of 16 bits, and takes
    multiples of 320 bytes, 3,200 at least."""

    size = 1600
    stream, call, account = "1" * 32, "2" * 32, "an-exotel-account"
    clear = {"event": "clear", "stream_sid": stream}

    def encoded(self, pcm: bytes) -> bytes:
        return pcm

    def decoded(self, data: bytes) -> bytes:
        assert 3200 <= len(data) <= 100_000 and len(data) % 320 == 0, f"{len(data)} bytes at once"
        return data

    async def start(self) -> None:
        await self.ws.send_json({"event": "connected"})
        start = {
            "stream_sid": self.stream,
            "call_sid": self.call,
            "account_sid": self.account,
            "from": "+15551234567",
            "to": "+15557654321",
            "custom_parameters": {},
            "media_format": {"encoding": "audio/x-raw", "sample_rate": "8000", "bit_rate": "16"},
        }
        await self._send("start", start=start)

    async def send_media(self, payload: str, number: int) -> None:
        media = {"chunk": str(number), "timestamp": str(number * 100), "payload": payload}
        await self._send("media", media=media)

    async def send_key(self, key: str) -> None:
        await self._send("dtmf", dtmf={"digit": key, "duration": "100"})

    def media(self, message: dict[str, Any]) -> str:
        payload = message["media"]["payload"]
        media = {"event": "media", "stream_sid": self.stream, "media": {"payload": payload}}
        assert message == media, message
        return payload

    async def end(self) -> None:
        ids = {"call_sid": self.call, "account_sid": self.account}
        await self._send("stop", stop=ids | {"reason": "callended"})

    async def _send(self, event: str, **rest: Any) -> None:
        number = str(self.number())
        head = {"event": event, "sequence_number": number, "stream_sid": self.stream}
        await self.ws.send_json(head | rest)
