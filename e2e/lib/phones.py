"""People who call a bot by telephone, and the APIs of the companies that carry the call.

A caller is the carrier's end of the media WebSocket. It sends what the carrier's documentation
says, refuses what that does not have, and plays what comes in real time, so that `heard` is what
the person hears: a carrier queues speech until it is told to drop it.

    async with call(TwilioCaller, bot.url) as caller:
        await caller.hear("Hello!")

The APIs are asked by the bot to hang up.
"""

import base64
import json
from collections.abc import Mapping
from typing import Any, ClassVar

import aiohttp
import numpy as np
from aiohttp import web

import speech
from caller import EAR, until
from socket_clients import SocketCaller
from standins import Service

FROM, TO = "+15551234567", "+15557654321"


def mu_law(pcm: bytes) -> bytes:
    """16-bit samples to the 8-bit code of telephone networks (ITU-T G.711)."""
    wave = speech.samples(pcm).astype(np.int32)
    sign = np.where(wave < 0, 0x80, 0)
    wave = np.minimum(np.abs(wave), 32635) + 132
    exponent = np.floor(np.log2(wave)).astype(np.int32) - 7
    mantissa = wave >> (exponent + 3) & 0x0F
    return (~(sign | exponent << 4 | mantissa) & 0xFF).astype(np.uint8).tobytes()


def linear(code: bytes) -> bytes:
    """The way back."""
    bits = ~np.frombuffer(code, dtype=np.uint8).astype(np.int32) & 0xFF
    wave = (((bits & 0x0F) << 3) + 132 << (bits >> 4 & 7)) - 132
    return np.where(bits & 0x80, -wave, wave).astype(np.int16).tobytes()


class PhoneCaller(SocketCaller):
    path, rate = "/ws", 8000
    clear: str  # the message that drops what is queued, and no more than that
    clear_rest: dict[str, Any]

    def __init__(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        super().__init__(ws)
        self.queued = bytearray()
        self.sent = bytearray()  # all that the bot said, without the gaps of a machine that is busy
        self.cleared: list[int] = []  # where in `heard` the bot had the rest dropped
        self._chunk = 0

    async def send_audio(self, pcm: bytes) -> None:
        size = len(pcm)  # as much as is sent is played
        played = bytes(self.queued[:size]).ljust(size, b"\0")
        del self.queued[:size]
        self.heard += speech.resample(played, self.rate, EAR)
        self._chunk += 1
        await self.send_media(pcm)

    async def listens(self) -> None:
        """Wait until the bot has been heard for about a second."""
        await until(lambda: speech.loudness(self.heard[-2 * EAR :]) > 1500, 20)

    async def send_media(self, pcm: bytes) -> None:
        raise NotImplementedError

    def received(self, data: Any) -> None:
        message = json.loads(data)
        self.messages.append(message | {"type": message["event"]})
        if message == {"event": self.clear} | self.clear_rest:
            self.queued.clear()
            self.cleared.append(len(self.heard))
        else:
            media = self.media(message)
            self.queued += media
            self.sent += media

    def sound(self) -> bytes:
        return speech.resample(bytes(self.sent), self.rate, EAR)

    def media(self, message: dict[str, Any]) -> bytes:
        """The speech in a message, which is nothing else."""
        raise NotImplementedError


class TwilioCaller(PhoneCaller):
    """https://www.twilio.com/docs/voice/media-streams/websocket-messages"""

    stream, call, account = "MZ" + "1" * 32, "CA" + "2" * 32, "AC" + "3" * 32
    clear, clear_rest = "clear", {"streamSid": stream}
    parameters: ClassVar[dict[str, str]] = {}  # of TwiML

    async def begin(self) -> None:
        self._sequence = 0
        await self.ws.send_json({"event": "connected", "protocol": "Call", "version": "1.0.0"})
        start = {
            "streamSid": self.stream,
            "accountSid": self.account,
            "callSid": self.call,
            "tracks": ["inbound"],
            "customParameters": self.parameters,
            "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
        }
        await self._send("start", start=start)

    async def _send(self, event: str, **rest: Any) -> None:
        self._sequence += 1
        head = {"event": event, "sequenceNumber": str(self._sequence), "streamSid": self.stream}
        await self.ws.send_json(head | rest)

    async def send_media(self, pcm: bytes) -> None:
        media = {
            "track": "inbound",
            "chunk": str(self._chunk),
            "timestamp": str(self._chunk * 20),
            "payload": base64.b64encode(mu_law(pcm)).decode(),
        }
        await self._send("media", media=media)

    def media(self, message: dict[str, Any]) -> bytes:
        payload = message["media"]["payload"]
        wanted = {"event": "media", "streamSid": self.stream, "media": {"payload": payload}}
        assert message == wanted, message
        return linear(base64.b64decode(payload, validate=True))

    async def end(self) -> None:
        await self._send("stop", stop={"accountSid": self.account, "callSid": self.call})


class TelnyxCaller(PhoneCaller):
    """https://developers.telnyx.com/docs/voice/programmable-voice/media-streaming"""

    stream, call, user = "32de0dea-53cb", "v3:caller-and-callee", "3e6f995f-85f7"
    clear, clear_rest = "clear", {}

    async def begin(self) -> None:
        self._sequence = 0
        await self.ws.send_json({"event": "connected", "version": "1.0.0"})
        start = {
            "user_id": self.user,
            "call_control_id": self.call,
            "call_session_id": "ff55a038-6f5d",
            "from": FROM,
            "to": TO,
            "client_state": "",
            "custom_parameters": {},
            "media_format": {"encoding": "PCMU", "sample_rate": 8000, "channels": 1},
        }
        await self._send("start", start=start)

    async def _send(self, event: str, **rest: Any) -> None:
        self._sequence += 1
        head = {"event": event, "sequence_number": str(self._sequence), "stream_id": self.stream}
        await self.ws.send_json(head | rest)

    async def send_media(self, pcm: bytes) -> None:
        media = {
            "track": "inbound",
            "chunk": str(self._chunk),
            "timestamp": str(self._chunk * 20),
            "payload": base64.b64encode(mu_law(pcm)).decode(),
        }
        await self._send("media", media=media)

    def media(self, message: dict[str, Any]) -> bytes:
        payload = message["media"]["payload"]
        assert message == {"event": "media", "media": {"payload": payload}}, message
        code = base64.b64decode(payload, validate=True)
        assert 160 <= len(code) <= 30 * 8000, f"{len(code)} bytes: 20 ms to 30 s are taken"
        return linear(code)

    async def end(self) -> None:
        await self._send("stop", stop={"user_id": self.user, "call_control_id": self.call})


class PlivoCaller(PhoneCaller):
    """https://www.plivo.com/docs/voice-agents/audio-streaming/concepts/audio-streaming-reference

    Whoever hangs up, Plivo closes the connection without a last message.
    """

    stream, call = "87654321-4321-4321-4321-cba987654321", "12345678-1234-1234-1234-123456789abc"
    clear, clear_rest = "clearAudio", {"streamId": stream}

    async def begin(self) -> None:
        self._sequence = 0
        start = {
            "callId": self.call,
            "streamId": self.stream,
            "accountId": "10000000",
            "tracks": ["inbound"],
            "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000},
        }
        await self._send("start", start=start)

    async def _send(self, event: str, **rest: Any) -> None:
        self._sequence += 1
        head = {"event": event, "sequenceNumber": self._sequence, "extra_headers": ""}
        await self.ws.send_json(head | rest)

    async def send_media(self, pcm: bytes) -> None:
        media = {
            "track": "inbound",
            "timestamp": str(1_700_000_000_000 + self._chunk * 20),
            "chunk": self._chunk,
            "payload": base64.b64encode(mu_law(pcm)).decode(),
        }
        await self._send("media", streamId=self.stream, media=media)

    def media(self, message: dict[str, Any]) -> bytes:
        payload = message["media"]["payload"]
        form = {"contentType": "audio/x-mulaw", "sampleRate": 8000, "payload": payload}
        wanted = {"event": "playAudio", "streamId": self.stream, "media": form}
        assert message == wanted, message
        return linear(base64.b64decode(payload, validate=True))


class ExotelCaller(PhoneCaller):
    """https://developer.exotel.com/docs/agentstream/websocket-protocol

    Samples of 16 bits, unlike the others. What the bot sends has to come in multiples of 320 bytes,
    3,200 at least: https://developer.exotel.com/docs/agentstream/stream-voicebot-applet
    """

    stream, call, account = "1" * 32, "2" * 32, "an-exotel-account"
    clear, clear_rest = "clear", {"stream_sid": stream}

    async def begin(self) -> None:
        self._sequence = 0
        self._pieces = bytearray()
        await self.ws.send_json({"event": "connected"})
        start = {
            "stream_sid": self.stream,
            "call_sid": self.call,
            "account_sid": self.account,
            "from": FROM,
            "to": TO,
            "custom_parameters": {},
            "media_format": {"encoding": "audio/x-raw", "sample_rate": "8000", "bit_rate": "16"},
        }
        await self._send("start", start=start)

    async def _send(self, event: str, **rest: Any) -> None:
        self._sequence += 1
        head = {"event": event, "sequence_number": str(self._sequence), "stream_sid": self.stream}
        await self.ws.send_json(head | rest)

    async def send_media(self, pcm: bytes) -> None:
        self._pieces += pcm
        if len(self._pieces) < 1600:  # 100 ms
            return
        media = {
            "chunk": str(self._chunk // 5),
            "timestamp": str(self._chunk * 20),
            "payload": base64.b64encode(self._pieces).decode(),
        }
        self._pieces.clear()
        await self._send("media", media=media)

    def media(self, message: dict[str, Any]) -> bytes:
        payload = message["media"]["payload"]
        wanted = {"event": "media", "stream_sid": self.stream, "media": {"payload": payload}}
        assert message == wanted, message
        pcm = base64.b64decode(payload, validate=True)
        assert 3200 <= len(pcm) <= 100_000 and len(pcm) % 320 == 0, f"{len(pcm)} bytes at once"
        return pcm

    async def end(self) -> None:
        reason = {"call_sid": self.call, "account_sid": self.account, "reason": "callended"}
        await self._send("stop", stop=reason)


# --- the APIs --------------------------------------------------------------------------------


class CarrierAPI(Service):
    """A carrier's API, as far as it ends its one call, once, or sends it elsewhere."""

    method: str
    path: str
    authorization: str

    async def handle(self, request: web.Request) -> web.StreamResponse:
        place = (request.method, request.path)
        self.expect(place == (self.method, self.path), f"no such path: {place}")
        self.expect(request.headers.get("Authorization") == self.authorization, "wrong key")
        self.expect(not self.requests, "the call has ended already")
        self.note("hang up")
        return await self.hang_up(request)

    async def hang_up(self, request: web.Request) -> web.StreamResponse:
        raise NotImplementedError


class TwilioAPI(CarrierAPI):
    """https://www.twilio.com/docs/voice/api/call-resource#update-a-call-resource

    `user` is the account with its token, or an API key with its secret; `wanted`, what is to
    become of the call.
    """

    name, host, method = "twilio", "api.twilio.com", "POST"
    path = f"/2010-04-01/Accounts/{TwilioCaller.account}/Calls/{TwilioCaller.call}.json"

    def __init__(
        self, user: str, password: str, wanted: Mapping[str, str] = {"Status": "completed"}
    ) -> None:
        super().__init__()
        self.authorization = aiohttp.encode_basic_auth(user, password)
        self.wanted = wanted

    async def hang_up(self, request: web.Request) -> web.StreamResponse:
        form = dict(await request.post())
        self.expect(form == self.wanted, f"form: {form}")
        return web.json_response({"sid": TwilioCaller.call, "status": "completed"})


class TelnyxAPI(CarrierAPI):
    """https://developers.telnyx.com/api-reference/call-commands/hangup-call"""

    name, host, method = "telnyx", "api.telnyx.com", "POST"
    path = f"/v2/calls/{TelnyxCaller.call}/actions/hangup"

    def __init__(self, key: str) -> None:
        super().__init__()
        self.authorization = f"Bearer {key}"

    async def hang_up(self, request: web.Request) -> web.StreamResponse:
        self.expect(await request.text() in ("", "{}"), "options that nobody knows")
        return web.json_response({"data": {"result": "ok"}})


class PlivoAPI(CarrierAPI):
    """https://www.plivo.com/docs/voice/api/call/hangup-a-call"""

    name, host, method = "plivo", "api.plivo.com", "DELETE"

    def __init__(self, user: str, token: str) -> None:
        super().__init__()
        self.path = f"/v1/Account/{user}/Call/{PlivoCaller.call}/"
        self.authorization = aiohttp.encode_basic_auth(user, token)

    async def hang_up(self, request: web.Request) -> web.StreamResponse:
        return web.Response(status=204)
