"""One session of bot.py over Daily, whose native client is played by a stand-in.

python daily_session.py SESSION, in the folder of bot.py

SESSION is JSON: `room_url`, `token`, `body`, what the bot gets of a call, and `refusals`, how many
transfers Daily refuses. A caller comes at once, and leaves after `leaves` seconds, if given. After
`stops` seconds the session is cancelled, as a server that shuts down does; after `dies` seconds
the process is killed. With `colleague`, another person comes while the bot speaks, and leaves
again. With `says`, a file of mono PCM of 16 bits at 16 kHz, the caller is heard, and what they hear
meanwhile is written to the file `hears`. What the client was asked is printed as JSON at the end,
each request a list of its name and data.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import bot
from pipecat.runner.types import DailyRunnerArguments
from pipecat.transports.daily import transport

CALLER = {"id": "the-caller", "info": {"userName": "+15551234567"}}
COLLEAGUE = {"id": "the-colleague", "info": {"userName": "Colleague"}}
SIP_SESSION = "the-sip-session"
RATE = 16000

session = json.loads(sys.argv[1])
asked: list[tuple[str, Any]] = []


def note(name: str, data: Any) -> None:
    asked.append((name, data))


class Sound:
    """Of the caller."""

    audio_frames: bytes
    sample_rate, num_channels = RATE, 1


class Line:
    """What the caller says and hears, from the same moment on."""

    def __init__(self) -> None:
        self.began = 0.0
        self.heard = bytearray()

    def hear(self, pcm: bytes, rate: int) -> None:
        if self.began:
            pause = time.monotonic() - self.began - len(self.heard) / 2 / rate
            if pause > 0.3:  # otherwise it is late by a moment
                self.heard += bytes(int(pause * rate) * 2)
            self.heard += pcm

    def speak(self, participant: str, callback: Callable[..., None], source: str) -> None:
        """Every 20 ms, from a thread as Daily's client does. There is silence after the words."""
        said = Path(session["says"]).read_bytes()
        size = RATE // 50 * 2
        self.began = time.monotonic()
        for number in range(60 * 50):
            sound = Sound()
            sound.audio_frames = said[number * size : (number + 1) * size].ljust(size, b"\0")
            time.sleep(max(0.0, self.began + number / 50 - time.monotonic()))
            try:
                callback(participant, sound, source)
            except RuntimeError:
                return  # the bot has left


line = Line()


def happen(seconds: float, event: Callable[..., None], *data: Any) -> None:
    """Report an event, from a thread as Daily's client does."""
    threading.Timer(seconds, event, data).start()


class Client:
    """daily.CallClient, as far as a call needs it. It refuses what the real one does not have."""

    def __init__(self, *, event_handler: Any) -> None:
        self.events = event_handler
        self.refusals = session["refusals"]
        self.joined = False

    def update_subscription_profiles(self, profiles: Mapping[str, Any]) -> None:
        assert set(profiles) == {"base"}

    def set_user_name(self, name: str) -> None:
        assert name

    def join(
        self, url: str, token: str, *, completion: Callable[..., None], client_settings: Any
    ) -> None:
        assert (url, token) == (session["room_url"], session["token"])
        assert client_settings["inputs"]["microphone"]["isEnabled"]
        note("join", url)
        self.joined = True
        completion(
            {"participants": {"local": {"id": "the-bot"}}, "meetingSession": {"id": "1"}}, None
        )
        happen(0.1, self.events.on_dialin_connected, {"sessionId": SIP_SESSION})
        happen(0.3, self.events.on_participant_joined, CALLER)
        if seconds := session.get("leaves"):
            happen(seconds, self.events.on_participant_left, CALLER, "leftCall")
        if session.get("colleague"):
            happen(1, self.events.on_participant_joined, COLLEAGUE)
            happen(3, self.events.on_participant_left, COLLEAGUE, "leftCall")

    def send_app_message(
        self, message: Any, participant: str | None, *, completion: Callable[..., None]
    ) -> None:
        completion(None)

    def update_subscriptions(
        self,
        *,
        participant_settings: Mapping[str, Any],
        profile_settings: None,
        completion: Callable[..., None],
    ) -> None:
        completion(None)

    def set_audio_renderer(
        self,
        participant: str,
        callback: Callable[..., None],
        *,
        audio_source: str,
        sample_rate: int,
        callback_interval_ms: int,
    ) -> None:
        """People are silent, unless the session has their words."""
        assert sample_rate == RATE
        if session.get("says"):
            arguments = participant, callback, audio_source
            threading.Thread(target=line.speak, args=arguments, daemon=True).start()

    def sip_call_transfer(
        self, settings: Mapping[str, Any], completion: Callable[..., None]
    ) -> None:
        assert self.joined, "nobody is in the room"
        assert settings.keys() == {"sessionId", "toEndPoint"}, settings
        note("transfer", dict(settings))
        self.refusals -= 1
        if self.refusals >= 0:
            completion("TransferFailed")
            return
        completion(None)
        # https://docs.daily.co/docs/guides/features/dial-in-dial-out/transfers: the caller leaves.
        happen(0.1, self.events.on_dialin_stopped, {"sessionId": SIP_SESSION})
        happen(0.2, self.events.on_participant_left, CALLER, "leftCall")

    def start_dialout(
        self, settings: Mapping[str, str], *, completion: Callable[..., None]
    ) -> None:
        note("dial", dict(settings))
        completion(SIP_SESSION, None)
        happen(0.1, self.events.on_dialout_answered, {"sessionId": SIP_SESSION})

    def leave(self, *, completion: Callable[..., None]) -> None:
        note("leave", None)
        self.joined = False
        completion(None)

    def release(self) -> None:
        note("release", None)


class Source:
    """daily.CustomAudioSource: it takes sound as fast as it is heard."""

    def __init__(self, sample_rate: int, channels: int, auto_silence: bool) -> None:
        self.samples, self.rate = sample_rate, sample_rate * channels * 2

    def write_frames(self, frames: bytes, *, completion: Callable[..., None]) -> None:
        asked.append(("speech", len(frames)))
        line.hear(frames, self.samples)
        threading.Timer(len(frames) / self.rate, completion, (len(frames) // 2,)).start()


class Track:
    def __init__(self, source: Source) -> None:
        self.id = "microphone"


transport.CallClient = Client
transport.CustomAudioSource = Source
transport.CustomAudioTrack = Track


async def main() -> None:
    arguments = DailyRunnerArguments(
        room_url=session["room_url"],
        token=session["token"],
        body=session["body"],
        session_id=str(uuid.uuid4()),
    )
    arguments.handle_sigint = False
    running = asyncio.create_task(bot.bot(arguments))
    loop = asyncio.get_running_loop()
    if seconds := session.get("stops"):
        loop.call_later(seconds, running.cancel)
    if seconds := session.get("dies"):
        loop.call_later(seconds, os.kill, os.getpid(), signal.SIGKILL)
    with contextlib.suppress(asyncio.CancelledError):
        await running
    names = [entry[0] for entry in asked]
    spoken = [entry for entry in asked if entry[0] != "speech"]
    if "hears" in session:
        Path(session["hears"]).write_bytes(line.heard)
    print(json.dumps({"asked": spoken, "names": names}))


asyncio.run(main())
