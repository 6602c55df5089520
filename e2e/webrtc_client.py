"""A person with a web client: calls a bot over WebRTC, speaks, listens, reads the transcript.

It does what Pipecat's JavaScript client does: POST /start, an offer to the session, the messages
of RTVI (the client's protocol) on a data channel, a microphone that is always on.

    async with call(bot.url) as caller:
        await caller.ready()
        await caller.hear("Hello!")
        await caller.say("What time is it?")
"""

import asyncio
import contextlib
import fractions
import json
import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp
import av
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack, MediaStreamError, MediaStreamTrack

import speech

RATE = 48000
TICK = RATE // 50  # samples in 20 ms
EAR = speech.EAR_RATE


class _Microphone(AudioStreamTrack):
    """Silence, and what was put into `pcm`, in real time."""

    def __init__(self) -> None:
        super().__init__()
        self.pcm = bytearray()
        self._sent = 0
        self._started = 0.0

    async def recv(self) -> av.AudioFrame:
        now = asyncio.get_running_loop().time
        self._started = self._started or now()
        await asyncio.sleep(max(0.0, self._started + self._sent / RATE - now()))
        chunk = bytes(self.pcm[: TICK * 2]).ljust(TICK * 2, b"\0")
        del self.pcm[: TICK * 2]
        frame = av.AudioFrame(format="s16", layout="mono", samples=TICK)
        frame.planes[0].update(chunk)
        frame.sample_rate, frame.pts = RATE, self._sent
        frame.time_base = fractions.Fraction(1, RATE)
        self._sent += TICK
        return frame


class Caller:
    """The person. `messages` and `heard` (PCM at `EAR` Hz) hold all that came so far."""

    def __init__(self, peer: RTCPeerConnection) -> None:
        self._peer = peer
        self._microphone = _Microphone()
        self._channel = peer.createDataChannel("chat", ordered=True)
        self._open = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self.messages: list[dict[str, Any]] = []
        self.heard = bytearray()

        peer.addTrack(self._microphone)
        peer.on("track", self._tracked)
        self._channel.on("open", self._open.set)
        self._channel.on("message", lambda text: self.messages.append(json.loads(text)))

    def _tracked(self, track: MediaStreamTrack) -> None:
        if track.kind == "audio":
            self._tasks.append(asyncio.create_task(self._listen(track)))

    async def _listen(self, track: MediaStreamTrack) -> None:
        resampler = av.AudioResampler("s16", "mono", EAR)
        with contextlib.suppress(MediaStreamError):
            while True:
                frame = await track.recv()
                assert isinstance(frame, av.AudioFrame)
                for part in resampler.resample(frame):
                    self.heard += part.to_ndarray().tobytes()

    async def connect(self, url: str) -> None:
        """Start a session and reach its bot."""
        async with aiohttp.ClientSession(raise_for_status=True) as http:
            async with http.post(f"{url}/start", json={"transport": "webrtc"}) as response:
                session = (await response.json())["sessionId"]
            await self._peer.setLocalDescription(await self._peer.createOffer())
            offer = self._peer.localDescription
            body = {"sdp": offer.sdp, "type": offer.type}
            async with http.post(f"{url}/sessions/{session}/api/offer", json=body) as response:
                answer = await response.json()
        await self._peer.setRemoteDescription(RTCSessionDescription(answer["sdp"], answer["type"]))
        await asyncio.wait_for(self._open.wait(), 20)
        self._tasks.append(asyncio.create_task(self._keep_alive()))

    async def _keep_alive(self) -> None:
        """The bot takes a client that has not said `ping` for three seconds as gone."""
        while self._channel.readyState == "open":
            self._channel.send(f"ping: {asyncio.get_running_loop().time()}")
            await asyncio.sleep(1)

    def send(self, kind: str, data: Any = None) -> None:
        """Send an RTVI message."""
        message = {"label": "rtvi-ai", "type": kind, "id": uuid.uuid4().hex[:8], "data": data}
        self._channel.send(json.dumps(message))

    async def ready(self) -> None:
        """Say that the client is ready, and wait until the bot says that it is, too."""
        about = {"library": "vbot-e2e", "library_version": "0"}
        self.send("client-ready", {"version": "1.2.0", "about": about})
        await self.receive("bot-ready")

    async def receive(
        self,
        kind: str,
        holds: Callable[[dict[str, Any]], bool] = lambda data: True,
        timeout: float = 20,
    ) -> dict[str, Any]:
        """The data of the first message of that kind that `holds` is true of."""

        def found() -> dict[str, Any] | None:
            for message in self.messages:
                data = message.get("data") or {}
                if message.get("type") == kind and holds(data):
                    return data
            return None

        await _until(lambda: found() is not None, timeout)
        if (data := found()) is not None:
            return data
        raise AssertionError(f"no such {kind!r} within {timeout:g} s: {self.messages}")

    async def say(self, sentence: str) -> None:
        """Speak, to the end of the sentence."""
        self._microphone.pcm += speech.speak(sentence, RATE)
        while self._microphone.pcm:
            await asyncio.sleep(0.02)

    async def hear(self, sentence: str, timeout: float = 20) -> None:
        """Wait until the bot has said this sentence, aloud."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout
        while loop.time() < deadline:
            # In a thread: the ear takes tens of milliseconds, and the microphone must not stutter.
            if await asyncio.to_thread(speech.hear, bytes(self.heard), EAR, [sentence]):
                return
            await asyncio.sleep(0.3)
        raise AssertionError(
            f"the bot was not heard to say {sentence!r} within {timeout:g} s; "
            f"{len(self.heard) / 2 / EAR:.1f} s came, of loudness {speech.loudness(self.heard):.0f}"
        )

    async def hang_up(self) -> None:
        for task in self._tasks:
            task.cancel()
        await self._peer.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _until(holds: Callable[[], bool], timeout: float) -> None:
    """Wait until something holds, or until time is up."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    while not holds() and loop.time() < deadline:
        await asyncio.sleep(0.05)


@contextlib.asynccontextmanager
async def call(url: str) -> AsyncIterator[Caller]:
    """Call the bot whose runner answers at `url`; hang up at the end."""
    # No servers: by default, aiortc asks one of Google's.
    caller = Caller(RTCPeerConnection(RTCConfiguration(iceServers=[])))
    try:
        await caller.connect(url)
        yield caller
    finally:
        await caller.hang_up()
