"""Web clients of generated projects: built as their owner would, and visited with a real browser.

`built` makes a project with a client, commits it, clones it, and installs and builds the clone.
`Client.served` serves what was built, a `Visitor` has a browser, and a `Visit` is one page in
it: what a person sees there, and what the browser itself says of sound and connections.
"""

import asyncio
import contextlib
import gzip
import os
import re
import shutil
import sys
import wave
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

import numpy as np
from playwright.async_api import Browser, Locator, Page, Response, async_playwright, expect

import bots
import network
import speech
from conversation import GREETING, QUESTION
from scripted import ScriptedBot

T = TypeVar("T")

SCREENSHOTS = bots.CACHE / "screenshots"
AXE = bots.CACHE / "browser/node_modules/axe-core/axe.min.js"
TREE = Path(__file__).parent.parent / "page.txt"

# This machine, but to the browser an address like any other: no page from there is to be trusted
# with a microphone. 198.51.100.0/24 is set aside for examples (RFC 5737).
FAR_AWAY = "198.51.100.1"

# Chromium's, beside the default one; all play the same recording.
MICROPHONES = ("Fake Audio Input 1", "Fake Audio Input 2")

# Seconds before the recorded person speaks: the bot is to have greeted by then.
QUIET = 12
RATE = 48000


@dataclass(frozen=True)
class Kind:
    """One way of making a web client."""

    name: str
    options: tuple[str, ...]  # of vbot init
    start: tuple[str, ...]  # the npm command that serves what was built; the port follows
    budget: int  # kB of gzipped JavaScript, at most, until the page is ready to connect


_PREVIEW = ("npm", "run", "preview", "--", "--strictPort", "--port")
KINDS = (
    Kind("vanilla", ("--client-framework", "vanilla"), _PREVIEW, 12),
    Kind("react-vite", ("--client-framework", "react", "--client-server", "vite"), _PREVIEW, 85),
    Kind(
        "react-nextjs",
        ("--client-framework", "react", "--client-server", "nextjs"),
        ("npm", "start", "--", "--hostname", "localhost", "--port"),
        155,
    ),
)


def node_env() -> dict[str, str]:
    """The environment for npm, with the pinned Node.js first on PATH."""
    env = bots.networked_env()
    return env | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"}


@dataclass
class Client:
    """The web client of a cloned project."""

    kind: Kind
    project: bots.Project
    said: dict[str, str] = field(default_factory=dict)  # by npm command: all that it wrote

    @property
    def folder(self) -> Path:
        return self.project.folder / "client"

    @property
    def name(self) -> str:
        return self.project.folder.name

    def npm(self, *args: str) -> None:
        """Run npm, which has to succeed."""
        done = bots.run("npm", *args, cwd=self.folder, env=node_env())
        said = done.stdout + done.stderr
        assert done.returncode == 0, f"npm {' '.join(args)}: exit code {done.returncode}\n{said}"
        self.said[" ".join(args)] = said

    def warnings(self) -> list[str]:
        """The warnings in the output of npm and of the programs that it ran."""
        # npm repeats the command, and complains of settings of the machine that it does not know.
        ours = re.compile(r"> |npm warn (Unknown|config) ")
        wrong = re.compile(r"warn|deprecat|error|vulnerab", re.IGNORECASE)
        fine = re.compile(r"\b(0|no) (warnings?|errors?|vulnerabilities)\b", re.IGNORECASE)
        return [
            f"npm {command}: {line}"
            for command, said in self.said.items()
            for line in said.splitlines()
            if wrong.search(fine.sub("", line)) and not ours.match(line)
        ]

    def served(self, bot_port: int) -> contextlib.AbstractAsyncContextManager[bots.Bot]:
        """Serve the build as its owner would, with its bot at that port."""
        port = bots.free_port()
        env = bots.plain_env() | {
            "PATH": node_env()["PATH"],
            "BOT_URL": f"http://localhost:{bot_port}",
            "npm_config_update_notifier": "false",  # npm's own look at its registry
        }
        command = (*self.kind.start, str(port))
        name = f"{self.name}-page"
        return bots.running(*command, cwd=self.folder, env=env, port=port, path="/", name=name)


def built(vbot: Path, kind: Kind, name: str, *options: str) -> Client:
    """A project with a web client: committed, cloned, and the clone installed and built."""
    services = ("--stt", "deepgram", "--llm", "openai", "--tts", "cartesia")
    args = (name, "--bot-type", "web", "--mode", "cascade", *services, *kind.options, *options)
    made = bots.generate(vbot, bots.PROJECTS / f"{name}-made", *args)
    clone = bots.PROJECTS / name
    git = ("git", "-c", "user.name=e2e", "-c", "user.email=e2e@localhost")
    bots.must(*git, "init", "--quiet", cwd=made.folder)
    bots.must(*git, "add", "--all", cwd=made.folder)
    bots.must(*git, "commit", "--quiet", "-m", "As generated", cwd=made.folder)
    bots.must(*git, "clone", "--quiet", made.folder, clone, cwd=made.folder.parent)
    client = Client(kind, bots.Project(clone, made.report))
    client.project.sync()
    client.npm("install")
    if network.can_fence():
        network.run(lambda: _build_offline(client), timeout=400)
    else:
        _build(client)
    return client


def _build(client: Client) -> None:
    client.npm("run", "lint")
    client.npm("run", "build")


async def _build_offline(client: Client) -> None:
    """Build without a network: linters, compilers and bundlers need no other host."""
    async with network.Names(()) as names:
        await asyncio.to_thread(_build, client)
    assert names.asked == set(), f"building asked for {names.asked}"


def beeps(seconds: float) -> bytes:
    """Low beeps, which nobody takes for speech."""
    at = np.arange(seconds * RATE) / RATE
    tone = np.where(at % 0.4 < 0.2, 600 * np.sin(2 * np.pi * 440 * at), 0)
    return tone.astype(np.int16).tobytes()


def recording(path: Path) -> Path:
    """The sound of the browser's microphone: the question, and beeps around it to measure."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(beeps(QUIET) + speech.speak(QUESTION, RATE) + bytes(4 * RATE) + beeps(90))
    return path


# Runs in the page before anything of its own: remembers what the page opens, when its Connect
# button can be pressed, and how loud it showed the bot.
_WATCH = """
{
  const watched = (window.watched = { peers: [], tracks: [], contexts: [], loudest: 0 });
  watched.open = () => watched.peers.filter((peer) => peer.connectionState !== "closed");
  window.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(...args) {
      super(...args);
      watched.peers.push(this);
    }
  };
  window.AudioContext = class extends AudioContext {
    constructor(...args) {
      super(...args);
      watched.contexts.push(this);
    }
  };
  const media = window.MediaDevices?.prototype; // which an insecure page has not
  for (const name of media ? ["getUserMedia", "getDisplayMedia"] : []) {
    const open = media[name];
    media[name] = async function (...args) {
      await watched.opening?.(...args); // for a test to hold or refuse it
      const stream = await open.apply(this, args);
      watched.tracks.push(...stream.getTracks());
      return stream;
    };
  }
  // Not the page's own timers: a test may stop its clock.
  const { setInterval, clearInterval } = window;
  const looking = setInterval(() => {
    const ready = [...document.querySelectorAll("button")].some(
      (button) => button.textContent.trim() === "Connect" && !button.disabled,
    );
    if (!ready) return;
    watched.ready = performance.now();
    clearInterval(looking);
  }, 5);
  setInterval(() => {
    const level = document.querySelector(".stage")?.style.getPropertyValue("--level");
    watched.loudest = Math.max(watched.loudest, Number(level ?? 0));
  }, 20);
}
"""

_MEASURE = """
async () => {
  const sum = { packetsIn: 0, energyIn: 0, packetsOut: 0, energyOut: 0, videoOut: 0, videoIn: 0 };
  const reports = await Promise.all(watched.open().map((peer) => peer.getStats()));
  for (const { type, kind, ...of } of reports.flatMap((report) => [...report.values()])) {
    if (type === "inbound-rtp" && kind === "audio") {
      sum.packetsIn += of.packetsReceived;
      sum.energyIn += of.totalAudioEnergy ?? 0;
    }
    if (type === "outbound-rtp" && kind === "audio") sum.packetsOut += of.packetsSent;
    if (type === "media-source" && kind === "audio") sum.energyOut += of.totalAudioEnergy ?? 0;
    if (type === "outbound-rtp" && kind === "video") sum.videoOut += of.framesEncoded ?? 0;
    if (type === "inbound-rtp" && kind === "video") sum.videoIn += of.framesDecoded ?? 0;
  }
  return sum;
}
"""


_END_IN_SIGHT = """
() => {
  const last = [...document.querySelectorAll("[role=log] li")].at(-1);
  let box = last;
  while (box && !/auto|scroll/.test(getComputedStyle(box).overflowY)) box = box.parentElement;
  const bottom = (element) => element.getBoundingClientRect().bottom;
  return !box || bottom(last) <= bottom(box);
}
"""


@dataclass(frozen=True)
class Look:
    """A way to display the page, such as dark or on a telephone."""

    name: str
    width: int
    height: int
    scheme: Literal["light", "dark"] = "light"
    forced: Literal["active", "none"] = "none"
    text: str = "100%"


# The first two differ the most: in them the page is checked for barriers too.
LOOKS = (
    Look("1280", 1280, 800),
    Look("360-dark", 360, 740, "dark"),
    Look("1280-dark", 1280, 800, "dark"),
    Look("768", 768, 1024),
    Look("360", 360, 740),
    Look("landscape", 740, 360),
    Look("forced", 1280, 800, forced="active"),
    Look("200", 1280, 800, text="200%"),
    Look("360-200", 360, 740, text="200%"),
)

# Of Chromium's accessibility tree: what it does not read out, what it does, and shorter names.
_SILENT = ("none", "generic", "InlineTextBox", "ListMarker", "MenuListPopup", "RootWebArea")
_SILENT += ("strong", "code", "LabelText")
_STATES = ("disabled", "pressed", "expanded", "focused", "live", "level")
_ROLES = {"sectionheader": "header", "sectionfooter": "footer", "DisclosureTriangle": "summary"}

Role = Literal["button", "combobox", "textbox"]


@dataclass
class Visit:
    """A page of a client in a browser."""

    page: Page
    hosts: set[str] = field(default_factory=set)  # that the page asked for anything
    faults: list[str] = field(default_factory=list)  # exceptions that nobody caught
    logged: list[str] = field(default_factory=list)  # errors on the browser's console
    _scripts: list[Response] = field(default_factory=list)

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    @property
    def status(self) -> Locator:
        return self.page.get_by_role("status")

    @property
    def log(self) -> Locator:
        return self.page.get_by_role("log", name="Conversation")

    def entries(self, speaker: str, text: str) -> Locator:
        """Entries of the conversation in which `speaker` says `text`."""
        return self.log.get_by_role("listitem").filter(
            has_text=re.compile(f"^\\s*{speaker}\\b.*{re.escape(text)}")
        )

    async def alert(self, words: str, timeout: float = 15) -> None:
        """Wait until the page shows this alert, also to screen readers."""
        alert = self.page.get_by_role("alert").filter(has_text=words)
        await expect(alert).to_be_visible(timeout=timeout * 1000)

    async def no_alert(self) -> None:
        # Next.js has an alert of its own, for the names of pages.
        await expect(self.page.get_by_role("alert").filter(has_text=".")).to_have_count(0)

    async def ready(self) -> float:
        """Wait until Connect can be pressed; return the ms since the page was requested."""
        await expect(self.button("Connect")).to_be_enabled(timeout=30_000)
        return await until(lambda: self.page.evaluate("watched.ready"), bool, "Connect is enabled")

    async def script_bytes(self) -> int:
        """The size of all scripts that the page has asked for by now, gzipped."""
        return sum([len(gzip.compress(await r.body(), mtime=0)) for r in self._scripts])

    async def reconnecting(self) -> float:
        """Wait until the page says that it has lost the bot; return the seconds that it took."""
        return await timed(expect(self.status).to_have_text("Reconnecting", timeout=10_000))

    async def try_to_connect(self) -> None:
        name = re.compile("^(Connect|Retry)$")
        await self.page.get_by_role("button", name=name).click()

    async def connect(self) -> None:
        await self.try_to_connect()
        await expect(self.status).to_have_text("Connected", timeout=45_000)
        await expect(self.button("Disconnect")).to_be_visible()

    async def opened(self) -> list[str]:
        """The kinds of the devices that the page has opened so far, in order."""
        return await self.page.evaluate("watched.tracks.map((track) => track.kind)")

    async def nothing_open(self, kind: str) -> None:
        """Wait until no device of the kind is in use: its light is off."""
        states = f"watched.tracks.filter((t) => t.kind === '{kind}').map((t) => t.readyState)"
        await until(
            lambda: self.page.evaluate(states), lambda s: set(s) <= {"ended"}, f"{kind} is off"
        )

    async def nothing_left_running(self) -> None:
        """Wait until the page holds no connection, no microphone or camera, and no sound."""
        await expect(self.status).to_have_text("Not connected", timeout=20_000)
        await self.nothing_open("audio")
        await self.nothing_open("video")
        for states in ("peers.map((p) => p.connectionState)", "contexts.map((c) => c.state)"):
            await until(
                lambda states=states: self.page.evaluate(f"watched.{states}"),
                lambda s: set(s) <= {"closed"},
                f"all closed: {states}",
            )

    async def measured(
        self, holds: Callable[[dict[str, float]], object], what: str
    ) -> dict[str, float]:
        """Wait until `holds` is true of the browser's WebRTC statistics, and return them."""
        return await until(lambda: self.page.evaluate(_MEASURE), holds, what)

    async def energy_of(self, packets: int) -> float:
        """The energy of the sound that goes out with the next packets; a packet holds 20 ms."""
        before = await self.measured(lambda now: now["packetsOut"], "sound goes out")
        after = await self.measured(
            lambda now: now["packetsOut"] >= before["packetsOut"] + packets, "sound goes on"
        )
        return after["energyOut"] - before["energyOut"]

    async def heard(self, more_than: float = 0.0) -> float:
        """Wait until a second of the microphone goes out with more energy than that."""
        return await until(
            lambda: self.energy_of(packets=50), lambda e: e > more_than, "the person is heard"
        )

    async def newest_track_goes_out(self) -> None:
        """Wait until the page sends the device that was opened last."""
        await until(
            lambda: self.page.evaluate(
                "watched.open().flatMap((peer) => peer.getSenders()).some("
                "(sender) => sender.track && sender.track === watched.tracks.at(-1))"
            ),
            bool,
            "the device that was opened last is on the connection",
        )

    @property
    def microphones(self) -> Locator:
        return self.page.get_by_role("combobox", name="Microphone")

    async def listens_to(self, microphone: str) -> None:
        """Wait until only that microphone is open and the menu shows it."""
        live = "watched.tracks.filter((t) => t.kind === 'audio' && t.readyState === 'live')"
        await until(
            lambda: self.page.evaluate(f"{live}.map((track) => track.label)"),
            lambda labels: labels == [microphone],
            f"{microphone} alone is open",
        )
        await expect(self.microphones.locator("option:checked")).to_have_text(microphone)

    async def barriers(self) -> list[str]:
        """The accessibility violations that axe finds on the page."""
        if not await self.page.evaluate("'axe' in window"):
            await self.page.add_script_tag(path=AXE)
        run = "axe.run({ runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa'] } })"
        found = (await self.page.evaluate(run))["violations"]
        return [
            f"{v['id']}: {v['help']}: {[n['html'] for n in v['nodes']]}"
            for v in found
            if v["impact"] in ("serious", "critical")
        ]

    async def looks(self, folder: Path, moment: str, all_of_them: bool = True) -> None:
        """Check the page for accessibility in several looks, and save a picture of each."""
        folder.mkdir(parents=True, exist_ok=True)
        for look in LOOKS if all_of_them else LOOKS[:1]:
            await self.page.emulate_media(
                color_scheme=look.scheme, forced_colors=look.forced, reduced_motion="reduce"
            )
            await self.page.set_viewport_size({"width": look.width, "height": look.height})
            await self.page.evaluate(f"document.documentElement.style.fontSize = '{look.text}'")
            if look in LOOKS[:2]:
                barriers = await self.barriers()
                assert barriers == [], f"{moment}, {look.name}: {barriers}"
            await until(
                lambda: self.page.evaluate(_END_IN_SIGHT), bool, "the last entry is in sight"
            )
            room = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
            assert await self.page.evaluate(room), f"{moment}, {look}: the page scrolls sideways"
            leave = self.button("Disconnect")
            if look.text == "100%" and await leave.count():
                await expect(leave).to_be_in_viewport(ratio=1)
            await self.page.screenshot(path=folder / f"{moment}-{look.name}.png")
        await self.page.emulate_media(
            color_scheme="light", forced_colors="none", reduced_motion="no-preference"
        )
        await self.page.evaluate("document.documentElement.style.fontSize = ''")
        await self.page.set_viewport_size({"width": 1280, "height": 800})

    async def press(self, role: Role, name: str) -> None:
        """Move to an element with the keyboard, check that the focus is visible, and press it."""
        wanted = self.page.get_by_role(role, name=name, exact=True)
        for _ in range(30):
            if await self.page.locator(":focus-visible").and_(wanted).count():
                await self.page.keyboard.press("Enter")
                return
            await self.page.keyboard.press("Tab")
        raise AssertionError(f"no way to {name} with the keyboard")

    async def tree(self) -> str:
        """Chromium's accessibility tree as text, which is what a screen reader gets."""
        session = await self.page.context.new_cdp_session(self.page)
        nodes = (await session.send("Accessibility.getFullAXTree"))["nodes"]
        await session.detach()
        by_id = {node["nodeId"]: node for node in nodes}
        lines: list[str] = []

        def add(node: dict[str, Any], depth: int, above: str) -> None:
            role: str = node["role"]["value"]
            name: str = node.get("name", {}).get("value", "")
            told = not node["ignored"] and role not in _SILENT
            if told and role == "StaticText":
                if name.strip() not in ("", above):  # a button's word is its name
                    lines.append("  " * depth + f"text: {name.strip()}")
                return
            if told:
                states = {p["name"]: p["value"].get("value") for p in node.get("properties", ())}
                said = [f"{s}={states[s]}" for s in _STATES if states.get(s) not in (None, False)]
                quoted = [f'"{name}"'] if name else []
                lines.append("  " * depth + " ".join([_ROLES.get(role, role), *quoted, *said]))
            for child in node.get("childIds", ()):
                if child in by_id:
                    add(by_id[child], depth + told, name if told else above)

        # Next.js has an alert of its own beside the page.
        add(next(n for n in nodes if n["role"]["value"] == "main"), 0, "")
        return "\n".join(lines) + "\n"


async def timed(waiting: Awaitable[None]) -> float:
    """How many seconds it takes."""
    now = asyncio.get_running_loop().time
    began = now()
    await waiting
    return now() - began


async def until(
    measure: Callable[[], Awaitable[T]],
    holds: Callable[[T], object],
    what: str,
    timeout: float = 20,
) -> T:
    """Wait until `holds` is true of the result of `measure`, and return that."""
    now = asyncio.get_running_loop().time
    deadline = now() + timeout
    while not holds(found := await measure()):
        assert now() < deadline, f"not within {timeout:g} s: {what}; last: {found}"
        await asyncio.sleep(0.1)
    return found


@dataclass
class Visitor:
    """Somebody with a browser."""

    browser: Browser

    @contextlib.asynccontextmanager
    async def visit(
        self, url: str, *permissions: str, stop_clock: bool = False
    ) -> AsyncIterator[Visit]:
        """The page at `url` in a fresh profile, of somebody who wants it to keep still.

        All that moves takes half a processor here; `looks` leaves it moving.
        """
        context = await self.browser.new_context(
            permissions=permissions,
            viewport={"width": 1280, "height": 800},
            color_scheme="light",
            reduced_motion="reduce",
        )
        try:
            await context.add_init_script(_WATCH)
            page = await context.new_page()
            if stop_clock:
                await page.clock.install()
            visit = Visit(page)
            page.on(
                "request", lambda request: visit.hosts.add(urlsplit(request.url).hostname or "")
            )
            page.on(
                "websocket", lambda socket: visit.hosts.add(urlsplit(socket.url).hostname or "")
            )
            page.on("pageerror", lambda error: visit.faults.append(str(error)))
            page.on(
                "console",
                lambda message: (
                    visit.logged.append(message.text) if message.type == "error" else None
                ),
            )
            page.on(
                "response",
                lambda r: visit._scripts.append(r) if r.request.resource_type == "script" else None,
            )
            await page.goto(url)
            yield visit
            assert visit.faults == [], visit.faults
            assert visit.hosts <= {urlsplit(url).hostname, ""}, f"it asked {visit.hosts}"
        finally:
            await context.close()


@contextlib.asynccontextmanager
async def chromium(microphone: Path, *flags: str) -> AsyncIterator[Visitor]:
    """Debian's Chromium, headless, whose microphone plays the recording once for each opening."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            env={**bots.plain_env()},
            args=[
                "--no-sandbox",  # which root cannot have
                "--disable-quic",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                # What the browser itself asks its maker for is kept from the name server, so that
                # what the page asks for is all that is left there. STUN servers are the page's.
                "--host-resolver-rules=MAP *.google.com ~NOTFOUND, MAP *.googleapis.com ~NOTFOUND, "
                "MAP *.gstatic.com ~NOTFOUND, EXCLUDE *.l.google.com, "
                f"MAP {FAR_AWAY} localhost",
                "--use-fake-device-for-media-stream",
                # An absolute path without any "..": else the microphone is silent.
                f"--use-file-for-fake-audio-capture={microphone.resolve()}%noloop",
                *(["--allow-loopback-in-peer-connection"] if network.fenced() else []),
                *flags,
            ],
        )
        try:
            yield Visitor(browser)
        finally:
            await browser.close()


async def is_asked_twice(
    visit: Visit, bot: ScriptedBot, state: Callable[[Visit, str, str], Awaitable[None]]
) -> None:
    """The person speaks twice. The first answer is cut off, and the second continues."""
    await bot.hears("What is the capital", final=False)
    await expect(visit.page.get_by_text("What is the capital")).to_be_visible()
    await state(visit, "hearing", "Hearing you")
    await bot.hears(QUESTION)
    await bot.send("user-stopped-speaking")
    await bot.send("bot-started-speaking")
    await bot.says(2, "The capital of France", "is a city called Paris.")
    await bot.send("bot-interrupted")
    await bot.send("bot-stopped-speaking")
    await bot.hears("And in Spain?")
    await bot.send("bot-started-speaking")
    await bot.says(3, "That is", "Madrid, at the foot of the Sierra de Guadarrama.")
    async with bot.aloud(GREETING):
        stage = visit.page.locator(".stage")
        loud = "(stage) => stage.style.getPropertyValue('--level') > 0.3"
        await until(lambda: stage.evaluate(loud), bool, "the shape moves")
        await state(visit, "speaking", "Speaking")
    await bot.send("bot-stopped-speaking")
