"""https://developers.telnyx.com/docs/voice/programmable-voice/media-streaming"""

from typing import Any

from vbot.testing.people.phone import Phone


class TelnyxCaller(Phone):
    """Somebody who calls by Telnyx, which takes 20 ms to 30 s at once."""

    stream, call, user = "32de0dea-53cb", "v3:caller-and-callee", "3e6f995f-85f7"
    clear = {"event": "clear"}

    def decoded(self, data: bytes) -> bytes:
        assert 160 <= len(data) <= 30 * 8000, f"{len(data)} bytes at once"
        return super().decoded(data)

    async def start(self) -> None:
        await self.ws.send_json({"event": "connected", "version": "1.0.0"})
        start = {
            "user_id": self.user,
            "call_control_id": self.call,
            "call_session_id": "ff55a038-6f5d",
            "from": "+15551234567",
            "to": "+15557654321",
            "client_state": "",
            "custom_parameters": {},
            "media_format": {"encoding": "PCMU", "sample_rate": 8000, "channels": 1},
        }
        await self._send("start", start=start)

    async def send_key(self, key: str) -> None:
        await self._send("dtmf", occurred_at="2026-01-01T12:00:00Z", dtmf={"digit": key})

    def media(self, message: dict[str, Any]) -> str:
        payload = message["media"]["payload"]
        assert message == {"event": "media", "media": {"payload": payload}}, message
        return payload

    async def end(self) -> None:
        await self._send("stop", stop={"user_id": self.user, "call_control_id": self.call})

    async def _send(self, event: str, **rest: Any) -> None:
        number = str(self.number())
        head = {"event": event, "sequence_number": number, "stream_id": self.stream}
        await self.ws.send_json(head | rest)
