"""Firefox, for pages of web clients, and a person who speaks and listens to it.

Firefox cannot use a file as a microphone as Chromium can. So it gets a sound server, PulseAudio,
with virtual devices: the person's speech comes from a virtual microphone, and the person hears what
Firefox plays on a virtual speaker.
"""

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from playwright.async_api import async_playwright

import bots
import speech
from caller import EAR, Caller, until
from clients import RATE, Visitor, beeps

# Microphones and speakers; the first of each is the default.
HEADSET, WEBCAM = "Headset", "Webcam"
SPEAKERS, PHONES = "Speakers", "Phones"

PREFERENCES: dict[str, str | float | bool] = {
    "media.navigator.permission.disabled": True,  # asks nobody for the microphone
    "media.peerconnection.ice.loopback": True,  # there is nothing else behind the fence
    # Without an echo to learn from, the canceller mutes the person while the bot speaks.
    "media.getusermedia.aec_enabled": False,
    "media.getusermedia.agc_enabled": False,
    "media.getusermedia.noise_enabled": False,
    "network.dns.localDomains": "firefox.settings.services.mozilla.com",  # its own, not the page's
    "ui.prefersReducedMotion": 1,
}
_PCM = ("--raw", "--format=s16le", "--channels=1")


class Person(Caller):
    """A person with these microphones, who hears what the speaker `listening` plays."""

    rate = RATE
    tempos = speech.STRETCHED

    def __init__(self, server: str) -> None:
        super().__init__()
        self.env = bots.plain_env() | {"PULSE_SERVER": server}

    async def say(self, sentence: str, microphone: str = HEADSET) -> None:
        process = await asyncio.create_subprocess_exec(
            *("pacat", *_PCM, f"--rate={self.rate}", f"--device=into-{microphone}"),
            env=self.env,
            stdin=asyncio.subprocess.PIPE,
        )
        # The beeps are for WebRTC, which loses or stretches the first sound after a silence.
        await process.communicate(beeps(2) + speech.speak(sentence, self.rate) + bytes(self.rate))
        assert process.returncode == 0, f"pacat: exit code {process.returncode}"

    @contextlib.asynccontextmanager
    async def listening(self, speaker: str) -> AsyncIterator[None]:
        self.heard.clear()
        process = await asyncio.create_subprocess_exec(
            *("parec", *_PCM, f"--rate={EAR}", f"--device={speaker}.monitor"),
            env=self.env,
            stdout=asyncio.subprocess.PIPE,
        )

        async def listen() -> None:
            assert process.stdout
            while chunk := await process.stdout.read(3200):
                self.heard += chunk

        ear = asyncio.create_task(listen())
        try:
            yield
        finally:
            ear.cancel()
            process.kill()
            await process.wait()


@contextlib.asynccontextmanager
async def person() -> AsyncIterator[Person]:
    """A sound server, and the person who has its devices."""
    with tempfile.TemporaryDirectory(prefix="e2e-sound-") as name:
        socket, log = Path(name, "socket"), Path(name, "log")
        modules = [f"module-native-protocol-unix socket={socket} auth-anonymous=1"]
        modules += [
            f"module-null-sink sink_name={it} sink_properties=device.description={it}"
            for it in (SPEAKERS, PHONES)
        ]
        for it in (HEADSET, WEBCAM):
            modules.append(f"module-null-sink sink_name=into-{it} rate={RATE}")
            described = f"source_name={it} source_properties=device.description={it}"
            modules.append(f"module-remap-source master=into-{it}.monitor {described}")
        with log.open("w") as file:
            server = await asyncio.create_subprocess_exec(
                *("pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1"),
                "--use-pid-file=no",
                *[f"--load={module}" for module in modules],
                env=bots.plain_env() | {"HOME": name, "PULSE_RUNTIME_PATH": name},
                stdout=file,
                stderr=file,
            )
        try:
            await until(socket.exists, timeout=20)
            assert socket.exists(), log.read_text()
            yield Person(f"unix:{socket}")
        finally:
            server.kill()
            await server.wait()


@contextlib.asynccontextmanager
async def firefox(one: Person) -> AsyncIterator[Visitor]:
    """Debian's Firefox, headless, with that person's microphones and speakers."""
    async with async_playwright() as playwright:
        browser = await playwright.firefox.launch(
            channel="moz-firefox",  # not the build of its own that Playwright downloads
            executable_path=shutil.which("firefox-esr"),
            env={**one.env},
            firefox_user_prefs=PREFERENCES,
        )
        try:
            yield Visitor(browser)
        finally:
            await browser.close()
