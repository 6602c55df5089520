"""https://www.plivo.com/docs/voice-agents/audio-streaming/concepts/audio-streaming-reference"""

from typing import Any

from vbot.testing.people.phone import Phone


class PlivoCaller(Phone):
    """Somebody who calls by Plivo, which closes the connection without a last message."""

    stream = "87654321-4321-4321-4321-cba987654321"
    call = "12345678-1234-1234-1234-123456789abc"
    clear = {"event": "clearAudio", "streamId": stream}

    async def start(self) -> None:
        start = {
            "callId": self.call,
            "streamId": self.stream,
            "accountId": "10000000",
            "tracks": ["inbound"],
            "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000},
        }
        await self._send("start", start=start)

    async def send_media(self, payload: str, number: int) -> None:
        time = str(1_700_000_000_000 + number * 20)
        media = {"track": "inbound", "chunk": number, "timestamp": time, "payload": payload}
        await self._send("media", streamId=self.stream, media=media)

    async def send_key(self, key: str) -> None:
        dtmf = {"track": "inbound", "digit": key, "timestamp": "1700000000000"}
        await self._send("dtmf", streamId=self.stream, dtmf=dtmf)

    def media(self, message: dict[str, Any]) -> str:
        payload = message["media"]["payload"]
        media = {"contentType": "audio/x-mulaw", "sampleRate": 8000, "payload": payload}
        assert message == {"event": "playAudio", "streamId": self.stream, "media": media}, message
        return payload

    async def _send(self, event: str, **rest: Any) -> None:
        head = {"event": event, "sequenceNumber": self.number(), "extra_headers": ""}
        await self.ws.send_json(head | rest)
