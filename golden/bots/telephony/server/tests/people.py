"""The people in the tests: how they connect, and what they say and hear."""

import array
import asyncio
import audioop
import base64
import contextlib
import fractions
import hmac
import json
import math
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import aiohttp
import av
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack, MediaStreamError, MediaStreamTrack

from sound import loudness, recording, resampled
from stand_ins import Script

PATIENCE = 20.0  # seconds; an idle machine needs far fewer


def rtvi(kind: str, **data: Any) -> str:
    """A message of a client, in JSON of the RTVI protocol."""
    return json.dumps({"label": "rtvi-ai", "id": "1", "type": kind, "data": data})


def client_ready() -> str:
    """What a client says when it is ready for the bot to speak."""
    about = {"library": "tests", "library_version": "1"}
    return rtvi("client-ready", version="2.0.0", about=about)


class Bot:
    """A program that is running: its address, and what it has logged."""

    def __init__(self, url: str, log_file: Path) -> None:
        self.url = url
        self._log_file = log_file
        self._before = 0  # bytes of earlier tests

    def begin_test(self) -> None:
        self._before = self._log_file.stat().st_size

    @property
    def log(self) -> str:
        """What it has logged since the test began."""
        return self._log_file.read_bytes()[self._before :].decode(errors="replace")

    async def ends_session(self) -> None:
        """Wait until the framework says that the session of this test has ended."""
        async with asyncio.timeout(PATIENCE):
            while "finished running" not in self.log:
                await asyncio.sleep(0.02)

    def events(self, end: str) -> list[str]:
        """What log.py has logged of what happened, in lines that end like this."""
        lines = [line.partition(" - ")[2] for line in self.log.splitlines() if "| log:" in line]
        return [line for line in lines if line.endswith(end)]

    def reports(self) -> str:
        """What monitor.py has logged of services that fail or are late."""
        return "\n".join(line for line in self.log.splitlines() if "| monitor:" in line)

    def errors(self) -> str:
        """The lines of its log that name a service that failed, or an exception."""
        lines = self.log.splitlines()
        return "\n".join(line for line in lines if " ERROR " in line or "Error:" in line)


class Person:
    """Somebody who is connected to the bot. Subclasses know how."""

    path = ""
    rate = 16000  # samples a second, in both directions

    def __init__(self, bot: Bot, script: Script) -> None:
        self.bot, self.script = bot, script
        self.heard = bytearray()  # mono PCM of 16 bits
        self.gone = asyncio.Event()  # the bot has hung up
        self._microphone = bytearray()
        self._said = 0  # how much of script.said was heard before
        self._loud_at = 0.0  # when the bot's voice was last heard
        self._sounded = False  # the bot's voice was heard since `hears` or `begins_to_hear`
        self._tasks: list[asyncio.Task[None]] = []

    @classmethod
    @contextlib.asynccontextmanager
    async def connected(cls, bot: Bot, script: Script, **options: Any) -> AsyncIterator[Any]:
        """Connect, and hang up at the end."""
        async with aiohttp.ClientSession() as http:
            person = cls(bot, script)
            await person.connect(http, **options)
            try:
                yield person
            finally:
                await person.hang_up()
                for task in person._tasks:
                    task.cancel()
                await asyncio.gather(*person._tasks, return_exceptions=True)

    async def speaks(self, sentence: str) -> None:
        """Say a sentence, in as much time as it takes."""
        self.script.will_be_spoken(sentence)
        self._microphone += recording(self.rate)
        while self._microphone and not self.gone.is_set():
            await asyncio.sleep(0.02)

    async def hears(self, text: str) -> None:
        """Wait until the bot has said this aloud, after what was heard before, and is silent."""
        await self.until(lambda: text in self.words(), f"say {text!r}")
        await self.until(lambda: self._sounded, "make a sound")
        await self.until(lambda: self.gone.is_set() or self._now() - self._loud_at > 0.3, "end")
        self._read()

    async def begins_to_hear(self, text: str) -> None:
        """Wait until the bot says this, and is heard. It may go on."""
        await self.until(lambda: text in self.words(), f"say {text!r}")
        await self.until(lambda: self._sounded, "make a sound")
        self._read()

    def words(self) -> str:
        """What the bot has said since something was last heard."""
        return " ".join(self.script.said[self._said :])

    def _read(self) -> None:
        self._said = len(self.script.said)
        self._sounded = False

    def hear(self, pcm: bytes) -> None:
        """Take in what comes from the bot: mono PCM of 16 bits, at `rate`."""
        self.heard += pcm
        if loudness(pcm) > 300:
            self._loud_at = self._now()
            self._sounded = True

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    async def until(self, holds: Callable[[], object], what: str) -> None:
        """Wait until something holds. Otherwise the failure has what the bot logged."""
        deadline = self._now() + PATIENCE
        while not holds():
            over = self.gone.is_set() and not holds()
            if over or self._now() > deadline:
                ended = "The bot hung up and" if over else "The bot"
                said = f" It said {self.words()!r}." if self.words() else ""
                logged = self.bot.errors() or "Its log has no error."
                raise AssertionError(f"{ended} did not {what}.{said}\n{logged}")
            await asyncio.sleep(0.02)

    async def connect(self, http: aiohttp.ClientSession) -> None:
        raise NotImplementedError

    async def hang_up(self) -> None:
        raise NotImplementedError

    async def send_audio(self, pcm: bytes) -> None:
        raise NotImplementedError

    def next_audio(self) -> bytes:
        """The next 20 ms of the microphone, which is silent where nothing is said."""
        size = self.rate // 50 * 2
        pcm = bytes(self._microphone[:size]).ljust(size, b"\0")
        del self._microphone[:size]
        return pcm

    async def keep_speaking(self) -> None:
        """Send what the microphone takes in, in real time."""
        started, sent = self._now(), 0
        while not self.gone.is_set():
            with contextlib.suppress(ConnectionError):  # the bot has hung up
                await self.send_audio(self.next_audio())
            sent += 1
            await asyncio.sleep(max(0.0, started + sent / 50 - self._now()))


class SocketPerson(Person):
    """Somebody who is connected by a WebSocket."""

    ws: aiohttp.ClientWebSocketResponse

    async def connect(
        self, http: aiohttp.ClientSession, path: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        path = path or await self.address(http)
        address = self.bot.url.replace("http", "ws", 1) + path
        self.ws = await http.ws_connect(address, headers=headers)
        await self.begin()
        self._tasks = [asyncio.create_task(self._listen())]
        self._tasks.append(asyncio.create_task(self.keep_speaking()))

    async def hang_up(self) -> None:
        if not self.gone.is_set():
            with contextlib.suppress(ConnectionError):
                await self.end()
        await self.ws.close()

    async def address(self, http: aiohttp.ClientSession) -> str:
        """The path of the WebSocket."""
        return self.path

    async def begin(self) -> None:
        """Send what comes first."""

    async def end(self) -> None:
        """Send what comes last."""

    def received(self, data: Any) -> None:
        raise NotImplementedError

    async def _listen(self) -> None:
        try:
            async for message in self.ws:
                self.received(message.data)
        finally:
            self.gone.set()


class Tester(SocketPerson):
    """Connected as Pipecat's evals are: by JSON of the RTVI protocol, which has text and audio."""

    path = "/ws"
    __test__ = False  # not a class of tests, in spite of its name

    async def begin(self) -> None:
        self.messages: list[dict[str, Any]] = []  # of the bot
        self._heard = 0  # messages that were heard before
        flags = {"skip_tts": False, "capture_bot_audio": True}
        await self._send("client-message", t="eval-connect", d=flags)
        await self.ws.send_str(client_ready())

    async def types(self, text: str) -> None:
        """Send a message, instead of speaking."""
        await self._send("send-text", content=text)

    def _read(self) -> None:
        super()._read()
        self._heard = len(self.messages)

    def words(self) -> str:
        new = [m for m in self.messages[self._heard :] if m["type"] == "bot-tts-text"]
        return " ".join(" ".join(m["data"]["text"] for m in new).split())

    async def receives(self, kind: str) -> dict[str, Any]:
        """Wait for a message of this type: what the first one holds."""

        def found() -> list[dict[str, Any]]:
            return [m.get("data") or {} for m in self.messages if m["type"] == kind]

        await self.until(found, f"send a message of type {kind}")
        return found()[0]

    async def send_audio(self, pcm: bytes) -> None:
        audio = base64.b64encode(pcm).decode()
        await self._send("raw-audio", base64Audio=audio, sampleRate=self.rate, numChannels=1)

    async def _send(self, kind: str, **data: Any) -> None:
        await self.ws.send_str(rtvi(kind, **data))

    def received(self, data: str) -> None:
        message = json.loads(data)
        if message["type"] == "eval-bot-audio":
            pcm = base64.b64decode(message["data"]["audio"])
            self.hear(resampled(pcm, message["data"]["sampleRate"], self.rate))
        else:
            self.messages.append(message)


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


class TwilioCaller(Phone):
    """Somebody who calls by Twilio."""

    stream, call, account = "MZ" + "1" * 32, "CA" + "2" * 32, "AC" + "3" * 32
    clear = {"event": "clear", "streamSid": stream}
    parameters: dict[str, str] = {}  # of the TwiML that the carrier was given

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


def twilio_signature(token: str, address: str) -> dict[str, str]:
    """The header with which Twilio shows that a request is its own."""
    code = hmac.digest(token.encode(), address.encode(), "sha1")
    return {"X-Twilio-Signature": base64.b64encode(code).decode()}


class Microphone(AudioStreamTrack):
    """What somebody says, in real time."""

    def __init__(self, person: Person) -> None:
        super().__init__()
        self._person = person
        self._started, self._sent = 0.0, 0

    async def recv(self) -> av.AudioFrame:
        now, rate = asyncio.get_running_loop().time, self._person.rate
        self._started = self._started or now()
        await asyncio.sleep(max(0.0, self._started + self._sent / rate - now()))
        frame = av.AudioFrame(format="s16", layout="mono", samples=rate // 50)
        frame.planes[0].update(self._person.next_audio())
        frame.sample_rate, frame.pts = rate, self._sent
        frame.time_base = fractions.Fraction(1, rate)
        self._sent += rate // 50
        return frame


class Visitor(Person):
    """Somebody who opens the page, allows the microphone and talks, over WebRTC."""

    rate = 48000

    async def connect(self, http: aiohttp.ClientSession) -> None:
        self.messages: list[dict[str, Any]] = []  # of the bot, by the RTVI protocol
        self._opened = asyncio.Event()
        self._peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self._channel = self._peer.createDataChannel("chat", ordered=True)
        self._channel.on("open", self._opened.set)
        self._channel.on("message", lambda text: self.messages.append(json.loads(text)))
        self._channel.on("close", self.gone.set)
        self._peer.addTrack(Microphone(self))
        self._peer.on("track", self._add_track)
        async with http.post(f"{self.bot.url}/start", json={"transport": "webrtc"}) as response:
            session = (await response.json())["sessionId"]
        await self._peer.setLocalDescription(await self._peer.createOffer())
        offer = self._peer.localDescription
        sent = {"sdp": offer.sdp, "type": offer.type}
        address = f"{self.bot.url}/sessions/{session}/api/offer"
        async with http.post(address, json=sent) as response:
            answer = await response.json()
        await self._peer.setRemoteDescription(RTCSessionDescription(answer["sdp"], answer["type"]))
        await self.until(self._opened.is_set, "open the data channel")
        self._tasks.append(asyncio.create_task(self._ping()))
        self._channel.send(client_ready())

    async def hang_up(self) -> None:
        await self._peer.close()

    def _add_track(self, track: MediaStreamTrack) -> None:
        if track.kind == "audio":
            self._tasks.append(asyncio.create_task(self._listen(track)))

    async def _listen(self, track: MediaStreamTrack) -> None:
        resampler = av.AudioResampler("s16", "mono", self.rate)
        with contextlib.suppress(MediaStreamError):
            while True:
                frame = await track.recv()
                assert isinstance(frame, av.AudioFrame)
                for part in resampler.resample(frame):
                    self.hear(part.to_ndarray().tobytes())

    async def _ping(self) -> None:
        """Who has not said this for three seconds is gone, to the bot."""
        while self._channel.readyState == "open":
            self._channel.send("ping")
            await asyncio.sleep(1)
