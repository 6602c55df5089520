"""A person who is connected to a bot: speaks, listens, reads messages.

The connections are in webrtc_client.py and socket_clients.py.
"""

import asyncio
import json
import uuid
from collections.abc import Callable
from typing import Any

import speech

EAR = speech.EAR_RATE


class Caller:
    """The person. `messages` and `heard` (PCM at `EAR` Hz) hold all that came so far."""

    rate: int  # of the microphone, which sends what is put into `pcm`, and silence
    tempos: tuple[float, ...] = (1.0,)  # of speech that they understand

    def __init__(self) -> None:
        self.pcm = bytearray()
        self.messages: list[dict[str, Any]] = []
        self.heard = bytearray()

    def breath(self) -> bytes:
        """The next 20 ms of the microphone."""
        size = self.rate // 50 * 2
        chunk = bytes(self.pcm[:size]).ljust(size, b"\0")
        del self.pcm[:size]
        return chunk

    def send_text(self, text: str) -> None:
        """Send a message of RTVI, the framework's protocol between clients and bots."""
        raise NotImplementedError

    async def ready(self) -> None:
        """Say that the client is ready, and wait until the bot says that it is, too."""
        about = {"library": "vbot-e2e", "library_version": "0"}
        data = {"version": "1.2.0", "about": about}
        head = {"label": "rtvi-ai", "type": "client-ready", "id": uuid.uuid4().hex[:8]}
        self.send_text(json.dumps(head | {"data": data}))
        await self.receive("bot-ready")

    async def type(self, text: str) -> None:
        """Send as text what other callers would say."""
        data = {"content": text, "options": {"run_immediately": True, "audio_response": True}}
        head = {"label": "rtvi-ai", "type": "send-text", "id": uuid.uuid4().hex[:8]}
        self.send_text(json.dumps(head | {"data": data}))

    async def receive(
        self,
        kind: str,
        holds: Callable[[dict[str, Any]], bool] = lambda data: True,
        timeout: float = 60,
    ) -> dict[str, Any]:
        """The data of the first message of that kind that `holds` is true of."""

        def found() -> dict[str, Any] | None:
            for message in self.messages:
                data = message.get("data") or {}
                if message.get("type") == kind and holds(data):
                    return data
            return None

        await until(lambda: found() is not None, timeout)
        if (data := found()) is not None:
            return data
        raise AssertionError(f"no such {kind!r} within {timeout:g} s: {self.messages}")

    async def say(self, sentence: str) -> None:
        """Speak, to the end of the sentence."""
        self.pcm += speech.speak(sentence, self.rate)
        while self.pcm:
            await asyncio.sleep(0.02)

    def sound(self) -> bytes:
        """PCM at `EAR` Hz in which to look for what the bot said."""
        return bytes(self.heard)

    async def hear(self, sentence: str, timeout: float = 60) -> None:
        """Wait until the bot has said this sentence, aloud."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout
        while loop.time() < deadline:
            # In a thread: the ear takes tens of milliseconds, and the microphone must not stutter.
            pcm = self.sound()
            if await asyncio.to_thread(speech.hear, pcm, EAR, [sentence], self.tempos):
                return
            await asyncio.sleep(0.3)
        raise AssertionError(
            f"the bot was not heard to say {sentence!r} within {timeout:g} s; "
            f"{len(self.heard) / 2 / EAR:.1f} s came, of loudness {speech.loudness(self.heard):.0f}"
        )


async def until(holds: Callable[[], bool], timeout: float) -> None:
    """Wait until something holds, or until time is up."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    while not holds() and loop.time() < deadline:
        await asyncio.sleep(0.05)
