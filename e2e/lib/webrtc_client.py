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
import ipaddress
import itertools
import json
from collections.abc import AsyncIterator, Callable

import aiohttp
import av
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack, MediaStreamError, MediaStreamTrack

from caller import EAR, Caller

RATE = 48000
TICK = RATE // 50  # samples in 20 ms
ADDRESSES = itertools.count(int(ipaddress.ip_address("198.18.0.1")))  # of callers


class Microphone(AudioStreamTrack):
    """The sound of a person's microphone, in real time."""

    def __init__(self, breath: Callable[[], bytes]) -> None:
        super().__init__()
        self._breath = breath
        self._sent = 0
        self._started = 0.0

    async def recv(self) -> av.AudioFrame:
        now = asyncio.get_running_loop().time
        self._started = self._started or now()
        await asyncio.sleep(max(0.0, self._started + self._sent / RATE - now()))
        frame = av.AudioFrame(format="s16", layout="mono", samples=TICK)
        frame.planes[0].update(self._breath())
        frame.sample_rate, frame.pts = RATE, self._sent
        frame.time_base = fractions.Fraction(1, RATE)
        self._sent += TICK
        return frame


class WebRTCCaller(Caller):
    rate = RATE

    def __init__(self, peer: RTCPeerConnection) -> None:
        super().__init__()
        self._peer = peer
        self._channel = peer.createDataChannel("chat", ordered=True)
        self._open = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self.session = self.id = ""  # where its requests go, and what the bot calls the connection

        peer.addTrack(Microphone(self.breath))
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
            # Each caller has an address of its own, as a proxy says it.
            proxied = {"X-Forwarded-For": str(ipaddress.ip_address(next(ADDRESSES)))}
            asked = {"transport": "webrtc"}
            async with http.post(f"{url}/start", json=asked, headers=proxied) as response:
                session = (await response.json())["sessionId"]
        self.session = f"{url}/sessions/{session}/api/offer"
        await self.offer()
        await asyncio.wait_for(self._open.wait(), 20)
        self._tasks.append(asyncio.create_task(self._keep_alive()))

    async def offer(self, **more: str | bool) -> None:
        """Say how to be reached: at first, and when that changes."""
        async with aiohttp.ClientSession(raise_for_status=True) as http:
            await self._peer.setLocalDescription(await self._peer.createOffer())
            offer = self._peer.localDescription
            body = {"sdp": offer.sdp, "type": offer.type} | more
            async with http.post(self.session, json=body) as response:
                answer = await response.json()
            self.id = answer["pc_id"]
        await self._peer.setRemoteDescription(RTCSessionDescription(answer["sdp"], answer["type"]))

    @property
    def sdp(self) -> str:
        return self._peer.localDescription.sdp

    async def offer_address(self) -> None:
        """Name one more, at which nobody answers."""
        address = {"candidate": "candidate:1 1 udp 1 192.0.2.1 9 typ host"}
        candidates = [address | {"sdp_mid": "0", "sdp_mline_index": 0}]
        async with aiohttp.ClientSession(raise_for_status=True) as http:
            body = {"pc_id": self.id, "candidates": candidates}
            async with http.patch(self.session, json=body):
                pass

    async def replace(self, lost: "WebRTCCaller") -> None:
        """Continue the session on a new connection, as browsers do when they restart ICE."""
        self.session = lost.session
        await self.offer(pc_id=lost.id, restart_pc=True)
        await asyncio.wait_for(self._open.wait(), 20)
        self._tasks.append(asyncio.create_task(self._keep_alive()))

    async def _keep_alive(self) -> None:
        """Send `ping`: the bot considers a client gone after three seconds without one."""
        while self._channel.readyState == "open":
            self._channel.send(f"ping: {asyncio.get_running_loop().time()}")
            await asyncio.sleep(1)

    def send_text(self, text: str) -> None:
        self._channel.send(text)

    async def hang_up(self) -> None:
        for task in self._tasks:
            task.cancel()
        await self._peer.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def new_caller() -> WebRTCCaller:
    # No servers: by default, aiortc asks one of Google's.
    return WebRTCCaller(RTCPeerConnection(RTCConfiguration(iceServers=[])))


@contextlib.asynccontextmanager
async def call(url: str) -> AsyncIterator[WebRTCCaller]:
    """Call the bot whose runner answers at `url`; hang up at the end."""
    caller = new_caller()
    try:
        await caller.connect(url)
        yield caller
    finally:
        await caller.hang_up()
