"""The requests of Pipecat's web clients for SmallWebRTC."""

import asyncio
import contextlib
import fractions
import json
from typing import Any

import aiohttp
import av
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack, MediaStreamError, MediaStreamTrack
from person import Person, client_ready


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
