"""https://www.twilio.com/docs/voice/media-streams/websocket-messages"""

import base64
import hmac
from collections.abc import Mapping
from typing import Any

from vbot.testing.people.phone import Phone


class TwilioCaller(Phone):
    """Somebody who calls by Twilio."""

    stream, call, account = "MZ" + "1" * 32, "CA" + "2" * 32, "AC" + "3" * 32
    clear = {"event": "clear", "streamSid": stream}
    parameters: dict[str, str] = {}  # of the TwiML that the carrier was given

    @classmethod
    def signature(cls, values: Mapping[str, str], address: str) -> dict[str, str]:
        code = hmac.digest(values["TWILIO_AUTH_TOKEN"].encode(), address.encode(), "sha1")
        return {"X-Twilio-Signature": base64.b64encode(code).decode()}

    async def start(self) -> None:
        await self.ws.send_json({"event": "connected", "protocol": "Call", "version": "1.0.0"})
        media_format = {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1}
        start = {
            "streamSid": self.stream,
            "accountSid": self.account,
            "callSid": self.call,
            "tracks": ["inbound"],
            "customParameters": self.parameters,
            "mediaFormat": media_format,
        }
        await self._send("start", start=start)

    async def send_key(self, key: str) -> None:
        await self._send("dtmf", dtmf={"track": "inbound_track", "digit": key})

    def media(self, message: dict[str, Any]) -> str:
        payload = message["media"]["payload"]
        media = {"event": "media", "streamSid": self.stream, "media": {"payload": payload}}
        assert message == media, message
        return payload

    async def end(self) -> None:
        await self._send("stop", stop={"accountSid": self.account, "callSid": self.call})

    async def _send(self, event: str, **rest: Any) -> None:
        head = {"event": event, "sequenceNumber": str(self.number()), "streamSid": self.stream}
        await self.ws.send_json(head | rest)
