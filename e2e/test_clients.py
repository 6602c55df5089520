"""The web clients: they build without a warning, and a person can use them."""

import asyncio
import contextlib
import re
import wave
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.async_api import expect

import bots
import livekit_server
import network
import turn
from clients import (
    FAR_AWAY,
    KINDS,
    MICROPHONES,
    SCREENSHOTS,
    TREE,
    Client,
    Kind,
    Visit,
    Visitor,
    built,
    chromium,
    is_asked_twice,
    recording,
    timed,
    until,
)
from conversation import ANSWER, GREETING, KEYS, QUESTION, SENTENCES, stand_ins
from firefox import HEADSET, PHONES, SPEAKERS, WEBCAM, Person, firefox, person
from scripted import ENDINGS, scripted_bot
from services import Refusing
from standins import StandIns

# What the page calls the connections.
WAYS = {"smallwebrtc": "SmallWebRTC", "websocket": "WebSocket", "livekit": "LiveKit"}
EVERY_WAY = [part for name in WAYS for part in ("--transport", name)]
# Between pages and bots that cannot reach each other.
ONLY_RELAYED = """
() => {
  const Peer = window.RTCPeerConnection;
  window.RTCPeerConnection = class extends Peer {
    constructor(config) {
      super({ ...config, iceTransportPolicy: "relay" });
    }
  };
}
"""
# A microphone that another program uses, which takes a moment to find out.
IN_USE = """
(label) => {
  watched.opening = async ({ audio }) => {
    const devices = await navigator.mediaDevices.enumerateDevices();
    const inUse = devices.find((device) => device.label === label);
    if (audio?.deviceId?.exact !== inUse.deviceId) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
    throw new DOMException("In use", "NotReadableError");
  };
}
"""
SLOW = "() => { watched.opening = () => new Promise((resolve) => setTimeout(resolve, 500)) }"
TYPED = "And what do you call the city on the river Seine?"


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.name)
def client(vbot: Path, request: pytest.FixtureRequest) -> Client:
    """Each client in turn, for a bot like the quickstart's."""
    kind: Kind = request.param
    made = built(vbot, kind, f"client-{kind.name}", *EVERY_WAY, "--self-host")
    made.project.write_env(**KEYS, **livekit_server.KEYS)
    return made


@pytest.fixture(scope="module")
def react(vbot: Path) -> Client:
    """The client that most people choose."""
    made = built(vbot, KINDS[1], "client-of-react", "--transport", "smallwebrtc")
    made.project.write_env(**KEYS)
    return made


@pytest.mark.quick
def test_a_person_writes_to_the_bot_and_hears_it(react: Client, microphone: Path) -> None:
    """In a real browser, the page connects, shows and plays what the bot says, and disconnects."""

    async def main() -> None:
        bot_port = bots.free_port()
        async with (
            stand_ins((QUESTION, TYPED)) as services,
            react.served(bot_port) as page,
            react.project.bot(services.env, port=bot_port) as bot,
            chromium(microphone) as browser,
            browser.visit(page.url, "microphone") as visit,
        ):
            await visit.ready()
            await visit.connect()
            await visit.button("Mute").click()
            await expect(visit.entries("Bot", GREETING)).to_have_count(1, timeout=60_000)
            await visit.measured(lambda now: now["energyIn"] > 0.001, "the bot is heard")
            await visit.page.get_by_label("Message").fill(TYPED)
            await visit.page.get_by_label("Message").press("Enter")
            await expect(visit.entries("You", TYPED)).to_have_count(1, timeout=60_000)
            await expect(visit.entries("Bot", ANSWER)).to_have_count(1, timeout=60_000)
            await visit.button("Disconnect").click()
            await visit.nothing_left_running()
            await visit.no_alert()
            await bot.sessions_end(timeout=60)
            assert bot.errors() == []
            assert services.names_asked() == services.hosts
        assert react.warnings() == []

    network.run(main, timeout=300)


@pytest.fixture(scope="module")
def livekit() -> None:
    """A LiveKit server can be started."""
    livekit_server.build()


@pytest.fixture(scope="module")
def microphone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recording(tmp_path_factory.mktemp("microphone") / "person.wav")


def test_it_builds_without_a_warning(client: Client) -> None:
    assert client.warnings() == []


@contextlib.asynccontextmanager
async def something_else(port: int, answer: bytes = b"") -> AsyncIterator[asyncio.Event]:
    """A server, not a bot, that answers all requests with this, or never. The event: a request."""
    asked = asyncio.Event()

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            if await reader.read(1):
                asked.set()
                writer.write(answer)
                await (writer.drain() if answer else reader.read())
        writer.close()

    server = await asyncio.start_server(respond, "localhost", port)
    try:
        yield asked
    finally:
        server.close()


@pytest.mark.alone
def test_the_page_says_what_is_wrong(client: Client, microphone: Path, figures: list[str]) -> None:
    async def visits(browser: Visitor, url: str, bot_port: int) -> None:
        async with browser.visit(url, "microphone") as visit:
            milliseconds = await visit.ready()
            kilobytes = await visit.script_bytes() / 1000
            figures.append(
                f"{client.kind.name}: {kilobytes:.1f} kB of JavaScript (gzipped) and "
                f"{milliseconds:.0f} ms until ready to connect"
            )
            assert kilobytes <= client.kind.budget
            assert await visit.page.title() == client.name
            assert await visit.page.get_by_role("heading", level=1).inner_text() == client.name
            await expect(visit.status).to_have_text("Not connected")
            await expect(visit.page.get_by_label("Message")).to_be_hidden()

            await visit.button("Connect").click()
            await visit.alert(f"No bot answers at http://localhost:{bot_port}")
            await expect(visit.page.get_by_role("alert").locator("code").last).to_have_text(
                "uv run bot.py"
            )
            await visit.nothing_left_running()

        async with browser.visit(url.replace("localhost", FAR_AWAY)) as visit:
            await visit.ready()
            await visit.button("Check the microphone").click()
            await visit.alert("only over https or on localhost")
            await visit.nothing_left_running()

        for status, words in (
            (401, "The bot's host refused to start a session (401)"),
            (429, "All bots are busy"),
        ):
            answer = f"HTTP/1.1 {status} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            async with (
                something_else(bot_port, answer.encode()),
                browser.visit(url, "microphone") as visit,
            ):
                await visit.ready()
                await visit.button("Connect").click()
                await visit.alert(words)
                await visit.nothing_left_running()

        async with something_else(bot_port) as asked:
            async with browser.visit(url, "microphone", stop_clock=True) as visit:
                await visit.ready()
                await visit.button("Connect").click()
                await asyncio.wait_for(asked.wait(), 20)
                await expect(visit.status).to_have_text("Connecting")
                await visit.page.clock.run_for(60_000)
                await visit.alert("The bot did not answer within")
                await visit.nothing_left_running()

    async def main() -> None:
        bot_port = bots.free_port()
        async with stand_ins() as services, client.served(bot_port) as page:
            async with chromium(microphone) as browser:
                await visits(browser, page.url, bot_port)
            # The name server heard of no host at all, neither from the page nor from its server.
            assert services.names_asked() == set()

    network.run(main)


def test_a_person_talks_with_the_bot(client: Client, microphone: Path, figures: list[str]) -> None:
    pictures = SCREENSHOTS / client.kind.name

    async def main() -> None:
        bot_port = bots.free_port()
        async with (
            stand_ins((QUESTION, TYPED), greeting=SENTENCES) as services,
            client.served(bot_port) as page,
            client.project.bot(services.env, port=bot_port) as bot,
            chromium(microphone) as browser,
            browser.visit(page.url, "microphone") as visit,
        ):
            await visit.ready()
            await visit.connect()
            assert await visit.opened() == ["audio"]  # once: some browsers ask the person each time
            await expect(visit.entries("Bot", SENTENCES)).to_have_count(1, timeout=20_000)
            await visit.measured(lambda now: now["energyIn"] > 0.001, "the bot is heard")
            assert await visit.page.evaluate("watched.loudest") > 0.1
            await expect(visit.entries("You", QUESTION)).to_have_count(1, timeout=30_000)
            await expect(visit.entries("Bot", ANSWER)).to_have_count(1, timeout=20_000)

            message = visit.page.get_by_label("Message")
            await message.fill(TYPED)
            await message.press("Enter")
            await expect(visit.entries("You", TYPED)).to_have_count(1)
            await expect(message).to_be_focused()
            await expect(message).to_have_value("")
            await expect(visit.entries("Bot", ANSWER)).to_have_count(2, timeout=20_000)

            heard = await visit.heard()
            await visit.button("Mute").click()
            quiet = heard / 1000
            await until(lambda: visit.energy_of(packets=10), lambda e: e < quiet, "it falls silent")
            assert await visit.energy_of(packets=50) < quiet
            await visit.button("Unmute").click()
            await until(
                lambda: visit.energy_of(packets=25), lambda e: e > quiet, "it is heard again"
            )

            # To speak over the bot, or to type, cuts it off: the log says what it had said.
            await message.fill(TYPED)
            await message.press("Enter")
            await message.fill(TYPED)
            # Once the first word is said, and before the last one is: the page itself looks often.
            unsaid = "document.querySelector('li.partial.bot .ahead')?.textContent ?? ''"
            begun = rf"/^\s*(?!The )\w/.test({unsaid})"
            await visit.page.wait_for_function(begun, polling=50, timeout=20_000)
            await message.press("Enter")
            await expect(visit.entries("Bot", "cut off")).to_have_count(1)
            await expect(visit.entries("Bot", ANSWER)).to_have_count(3, timeout=20_000)

            await visit.page.get_by_text("For developers").click()
            for service in ("Deepgram STT", "OpenAI LLM", "Cartesia TTS"):
                await expect(visit.page.get_by_role("columnheader", name=service)).to_be_visible()
            await expect(visit.page.get_by_text(re.compile("Tokens: [1-9]"))).to_be_visible()
            await expect(visit.page.get_by_label("Events")).to_contain_text("bot-started-speaking")

            await visit.button("Disconnect").click()
            await visit.nothing_left_running()
            await visit.no_alert()
            await bot.sessions_end()

            # Another microphone while the page connects, and after it.
            await visit.page.get_by_text("Settings").click()
            opened = len(await visit.opened())
            await visit.button("Connect").dblclick()
            await until(visit.opened, lambda now: len(now) > opened, "the microphone is open")
            await visit.microphones.select_option(MICROPHONES[0])
            await expect(visit.status).to_have_text("Connected", timeout=30_000)
            await visit.listens_to(MICROPHONES[0])
            await visit.newest_track_goes_out()
            await expect(visit.entries("Bot", SENTENCES)).to_have_count(2, timeout=20_000)
            await visit.microphones.select_option(MICROPHONES[1])
            await visit.listens_to(MICROPHONES[1])
            await visit.newest_track_goes_out()
            await visit.heard(more_than=quiet)
            assert bot.errors() == []

            # A hiccup is not worth a word, a pause is, and after it the session goes on.
            with bot.stopped():
                await asyncio.sleep(0.7)
                await expect(visit.status).to_have_text("Connected", timeout=20_000)
            with bot.stopped():
                await visit.reconnecting()
                await expect(visit.page.locator(".mood")).to_have_text("Reconnecting")
                await visit.page.screenshot(path=pictures / "reconnecting.png")
            await expect(visit.status).to_have_text("Connected")

            assert services.names_asked() == services.hosts

            if client.kind == KINDS[0]:  # how long to try again is in what the clients share
                await bot.die()
                noticed = await visit.reconnecting()
                assert noticed < 4
                told = await timed(visit.alert("The connection to the bot was lost", timeout=60))
                figures.append(
                    f"{noticed:.1f} s from the bot's death to Reconnecting, "
                    f"{noticed + told:.1f} s to what to do"
                )
            else:
                await visit.button("Disconnect").click()
            await visit.nothing_left_running()

    network.run(main)


@contextlib.asynccontextmanager
async def in_between(client: Client, way: str) -> AsyncIterator[None]:
    """A proxy between the page and the bot."""
    if way == "livekit":
        async with livekit_server.running(client.project):
            yield
    else:
        yield


async def choose(visit: Visit, way: str) -> None:
    await visit.ready()
    await visit.page.get_by_text("Settings").click()
    connection = visit.page.get_by_label("Connection")
    await expect(connection.get_by_role("option")).to_have_text(list(WAYS.values()))
    await connection.select_option(WAYS[way])


async def ask(visit: Visit, one: Person, microphone: str, speaker: str) -> None:
    """Ask on one device, and hear the answer on another. Try again if a busy machine garbled it."""
    questions, answers = visit.entries("You", QUESTION), visit.entries("Bot", ANSWER)
    async with one.listening(speaker):
        for last in (False, False, True):
            asked, answered = await questions.count(), await answers.count()
            await one.say(QUESTION, microphone)
            try:
                await expect(questions).to_have_count(asked + 1, timeout=6_000)
                await expect(answers).to_have_count(answered + 1, timeout=20_000)
                return await one.hear(ANSWER, timeout=6)
            except AssertionError:
                if last:
                    raise


def test_a_person_talks_with_the_bot_in_firefox(client: Client, livekit: None) -> None:
    # Each client in another way: the code for it is the same in all of them.
    way = dict(zip(KINDS, WAYS, strict=True))[client.kind]

    async def main() -> None:
        port = bots.free_port()
        async with (
            in_between(client, way),
            stand_ins() as services,
            client.served(port) as page,
            client.project.bot(services.env, port=port) as bot,
            person() as one,
            firefox(one) as browser,
            browser.visit(page.url) as visit,
        ):
            await choose(visit, way)
            await visit.connect()
            await expect(visit.entries("Bot", GREETING)).to_have_count(1, timeout=20_000)
            await expect(visit.page.locator(".mood")).to_have_text("Listening", timeout=20_000)
            assert await visit.page.evaluate("watched.loudest") > 0.1
            await ask(visit, one, HEADSET, SPEAKERS)

            choices = {"Microphone": WEBCAM, "Speaker": PHONES}
            for name, label in choices.items():
                devices = visit.page.get_by_role("combobox", name=name)
                await devices.select_option(label)
            await ask(visit, one, WEBCAM, PHONES)

            await visit.button("Disconnect").click()
            await visit.nothing_left_running()
            await visit.no_alert()
            await bot.sessions_end()
            assert bot.errors() == []

    network.run(main)


@dataclass(frozen=True)
class Refusal:
    """A service that refuses its key, in a bot that has it."""

    service: str  # of REFUSALS
    label: str  # by which the page names it
    variable: str
    bot: tuple[str, ...] = ()  # options of another bot than the client's own
    keys: Mapping[str, str] = field(default_factory=lambda: KEYS)

    @property
    def words(self) -> str:
        return (
            f"The bot stopped: {self.label} refused the key. Check {self.variable} in server/.env, "
            "then start the bot again."
        )


VOICED = ("-m", "cascade", "--stt", "deepgram", "--llm", "openai")
OPENAI = Refusal("openai", "OpenAI", "OPENAI_API_KEY")
REFUSALS = (
    OPENAI,
    Refusal("deepgram", "Deepgram", "DEEPGRAM_API_KEY"),
    Refusal("cartesia", "Cartesia", "CARTESIA_API_KEY"),
    Refusal(
        "elevenlabs",
        "ElevenLabs",
        "ELEVENLABS_API_KEY",
        (*VOICED, "--tts", "elevenlabs"),
        KEYS | {"ELEVENLABS_API_KEY": "an-elevenlabs-key", "ELEVENLABS_VOICE_ID": "a-voice"},
    ),
    Refusal(
        "openai",
        "OpenAI Realtime",
        "OPENAI_API_KEY",
        ("-m", "realtime", "--realtime", "openai"),
        KEYS,
    ),
)


@pytest.mark.parametrize("client", KINDS[:1], indirect=True, ids=lambda kind: kind.name)
def test_the_page_says_which_key_is_wrong(
    vbot: Path, client: Client, microphone: Path, figures: list[str]
) -> None:
    """One page, and one bot after another at its address."""
    projects = []
    for refusal in REFUSALS:
        project = client.project
        if refusal.bot:
            name = f"refused-{refusal.label.replace(' ', '-')}"
            project = bots.installed(vbot, name, "-t", "smallwebrtc", *refusal.bot)
        projects.append(project)

    async def refused(visit: Visit, refusal: Refusal, project: bots.Project, port: int) -> None:
        known = (project.server / ".env.example").read_text()
        project.write_env(**{name: key for name, key in refusal.keys.items() if name in known})
        hosts = [s for s in stand_ins().services if s.name != refusal.service]
        async with (
            StandIns(*hosts, Refusing(refusal.service)) as services,
            project.bot(services.env, port=port) as bot,
        ):
            for again in range(1 + (refusal is OPENAI)):  # the bot is there for the next one
                await visit.try_to_connect()
                seconds = await timed(visit.alert(refusal.words, timeout=30))
                figures.append(
                    f"{client.kind.name}: {seconds:.1f} s from Connect to {refusal.label}'s refusal"
                )
                await visit.nothing_left_running()
                await bot.sessions_end()
                assert bot.log.count(f"- {refusal.label} refused the key.") == 1 + again
            said = bot.log + await visit.page.content()
            assert not any(key in said for key in refusal.keys.values())
            assert "a-w*****key" not in await visit.page.content()  # which OpenAI says

    async def main() -> None:
        port = bots.free_port()
        async with (
            client.served(port) as page,
            chromium(microphone) as browser,
            browser.visit(page.url, "microphone") as visit,
        ):
            await visit.ready()
            for refusal, project in zip(REFUSALS, projects, strict=True):
                await refused(visit, refusal, project, port)
            assert await visit.barriers() == []

    network.run(main, timeout=300)


def test_every_state_can_be_seen_and_read(
    client: Client, microphone: Path, request: pytest.FixtureRequest
) -> None:
    """Only with the keyboard, and with a bot that stays in each state while it is checked."""
    pictures = SCREENSHOTS / client.kind.name
    tree: list[str] = []

    async def state(visit: Visit, name: str, mood: str) -> None:
        await expect(visit.page.locator(".mood")).to_have_text(mood)
        said = re.sub(r"localhost:\d+", "localhost:PORT", await visit.tree())
        tree.append(f"== {name}\n\n{said.replace(client.name, 'NAME')}")
        await visit.looks(pictures, name, all_of_them=client.kind == KINDS[0])

    async def main() -> None:
        port = bots.free_port()
        async with (
            client.served(port) as page,
            chromium(microphone) as browser,
            browser.visit(page.url, "microphone", "clipboard-write") as visit,
        ):
            await visit.ready()
            await state(visit, "start", "Ready to talk")
            await visit.press("button", "Check the microphone")
            works = visit.page.get_by_text("The microphone works.")
            await expect(works).to_be_visible(timeout=20_000)
            await state(visit, "check", "Ready to talk")
            await visit.press("button", "End the check")
            await visit.nothing_open("audio")

            await visit.press("button", "Connect")
            await visit.alert("No bot answers at", timeout=30)
            await visit.press("button", "Copy")
            await expect(visit.button("Copied")).to_be_visible()
            await expect(visit.button("Copy")).to_be_visible()
            await state(visit, "no-bot", "Something went wrong")

            async with scripted_bot(port) as bot:
                await visit.page.get_by_text("Settings").press("Enter")
                await visit.page.get_by_label("Connection").press("ArrowDown")
                await state(visit, "settings", "Something went wrong")
                await visit.page.get_by_text("Settings").press("Enter")
                await visit.press("button", "Retry")
                await asyncio.wait_for(bot.asked.wait(), 20)
                await state(visit, "connecting", "Connecting")
                await bot.send("bot-ready", version="2.1.0")
                await expect(visit.status).to_have_text("Connected", timeout=20_000)
                await bot.send("bot-llm-started")
                await state(visit, "thinking", "Thinking")

                await bot.send("bot-started-speaking")
                await bot.says(1, GREETING)
                await bot.send("bot-llm-stopped")
                await bot.send("bot-stopped-speaking")
                await state(visit, "listening", "Listening")
                late = "OpenAI has not answered for 21 s."
                await bot.send("server-message", problem=late)
                await visit.alert(late)
                await bot.send("user-started-speaking")
                await expect(visit.page.get_by_text(late)).to_have_count(0)
                await is_asked_twice(visit, bot, state)

                await visit.press("button", "Mute")
                await state(visit, "muted", "Muted")
                await visit.press("button", "Unmute")
                message = visit.page.get_by_label("Message")
                await message.press_sequentially("Thank you.")
                await message.press("Enter")
                await visit.page.get_by_text("For developers").press("Enter")
                await visit.looks(pictures, "developers")
                await visit.page.get_by_text("For developers").press("Enter")

                await bot.send("error", fatal=True, error=OPENAI.words.partition(": ")[2])
                await visit.alert(OPENAI.words)
                await state(visit, "wrong-key", "Something went wrong")
                bot.asked.clear()
                await visit.press("button", "Retry")
                await asyncio.wait_for(bot.asked.wait(), 20)
                await bot.send("bot-ready", version="2.1.0")
                await expect(visit.status).to_have_text("Connected", timeout=20_000)
                await visit.press("button", "Disconnect")
                await visit.nothing_left_running()

    network.run(main, timeout=300)
    if request.config.getoption("--update") and client.kind == KINDS[0]:
        TREE.write_text("\n".join(tree))
    assert TREE.read_text() == "\n".join(tree), "e2e/run test_clients.py --update -k every_state"


def test_a_session_that_the_bot_ends_is_no_failure(client: Client, microphone: Path) -> None:
    """But one that ends without a word is."""

    async def main() -> None:
        port = bots.free_port()
        async with (
            client.served(port) as page,
            chromium(microphone) as browser,
            browser.visit(page.url, "microphone") as visit,
            scripted_bot(port) as bot,
        ):
            mood, hint = visit.page.locator(".mood"), visit.page.locator(".hint")

            async def greeted() -> None:
                bot.asked.clear()
                await visit.press("button", "Connect")
                await asyncio.wait_for(bot.asked.wait(), 20)
                await bot.send("bot-ready", version="2.1.0")
                await expect(visit.status).to_have_text("Connected", timeout=20_000)

            await visit.ready()
            await visit.page.get_by_text("Settings").press("Enter")
            await visit.page.get_by_label("Connection").press("ArrowDown")  # WebSocket
            await visit.page.get_by_text("Settings").press("Enter")
            for told, words in ENDINGS:
                await greeted()
                await bot.send("server-message", **told)
                await expect(mood).not_to_have_text("Ended")  # it may still speak
                await bot.leaves()
                await expect(mood).to_have_text("Ended")
                await expect(hint.filter(has_text=words)).to_have_count(1)
                await visit.no_alert()
            await greeted()
            await bot.leaves()
            await visit.alert("The connection to the bot was lost", timeout=60)
            await expect(mood).to_have_text("Something went wrong")

    network.run(main, timeout=300)


@pytest.mark.parametrize("client", KINDS[:2], indirect=True, ids=lambda kind: kind.name)
def test_the_page_says_that_the_microphone_is_silent(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "silence.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 48000, 0, "NONE", ""))
        file.writeframes(bytes(2 * 48000))

    async def main() -> None:
        async with (
            client.served(bots.free_port()) as page,
            chromium(path) as browser,
            browser.visit(page.url, "microphone", stop_clock=True) as visit,
        ):
            await visit.ready()
            await visit.button("Check the microphone").click()
            asked = visit.page.get_by_text("Say something.")
            await expect(asked).to_be_visible(timeout=20_000)
            await visit.page.clock.run_for(10_000)
            await expect(visit.page.get_by_text("No sound from the microphone.")).to_be_visible()

    network.run(main)


@pytest.fixture(scope="module")
def several(vbot: Path, livekit: None) -> Client:
    """A client with several connections to choose from, for a bot with video."""
    options = (*EVERY_WAY, "--video-input", "--self-host")
    made = built(vbot, KINDS[0], "client-several", *options)
    made.project.write_env(**KEYS, **livekit_server.KEYS)
    assert made.warnings() == []
    return made


@pytest.mark.parametrize("way", ["websocket", "livekit"])
def test_a_person_connects_another_way(
    several: Client, microphone: Path, figures: list[str], way: str
) -> None:
    async def main() -> None:
        bot_port = bots.free_port()
        async with (
            in_between(several, way),
            stand_ins(greeting=SENTENCES) as services,
            several.served(bot_port) as page,
            several.project.bot(services.env, port=bot_port) as bot,
            chromium(microphone) as browser,
            browser.visit(page.url, "microphone") as visit,
        ):
            await choose(visit, way)
            await visit.connect()
            connection = visit.page.get_by_label("Connection")
            await expect(connection).to_be_disabled()
            peers = await visit.page.evaluate("watched.peers.length")
            assert bool(peers) == (way == "livekit")
            await expect(visit.entries("Bot", SENTENCES)).to_have_count(1, timeout=20_000)
            # One microphone and at once another one, where the recording begins anew.
            await visit.page.evaluate(IN_USE, MICROPHONES[0])
            for label in MICROPHONES:
                await visit.microphones.select_option(label)
            await visit.listens_to(MICROPHONES[1])
            assert await visit.page.evaluate("watched.loudest") > 0.1
            await expect(visit.entries("You", QUESTION)).to_have_count(1, timeout=30_000)
            await expect(visit.entries("Bot", ANSWER)).to_have_count(1, timeout=20_000)
            assert bot.errors() == []

            assert not [line for line in visit.logged if "Unknown frame kind" in line]

            in_use = visit.page.get_by_role("alert").filter(has_text="The microphone")
            await expect(in_use).to_have_count(0)
            await visit.microphones.select_option(MICROPHONES[0])
            await visit.alert("The microphone cannot be used. Close other programs")
            await visit.listens_to(MICROPHONES[1])
            await visit.microphones.select_option("")
            await visit.no_alert()

            await visit.button("Mute").click()
            await visit.page.evaluate(SLOW)
            opened = len(await visit.opened())
            await visit.microphones.select_option(MICROPHONES[0])
            await visit.button("Disconnect").click()
            await visit.nothing_left_running()
            await until(visit.opened, lambda now: len(now) > opened, "the slow one is open, late")
            await visit.nothing_open("audio")
            await visit.no_alert()
            await expect(connection).to_be_enabled()
            await bot.sessions_end()

            await visit.connect()
            if way == "livekit":  # still muted
                sent = await visit.measured(lambda now: now["packetsOut"] > 5, "packets go out")
                assert sent["energyOut"] < 1e-6
            await bot.die()
            if way == "livekit":
                noticed = await visit.reconnecting()
                assert noticed < 4
                figures.append(f"{WAYS[way]}: {noticed:.1f} s from the bot's death to Reconnecting")
            told = await timed(visit.alert("The connection to the bot was lost", timeout=60))
            figures.append(f"{WAYS[way]}: {told:.1f} s from there to what to do")
            assert way == "livekit" or told < 2
            await visit.nothing_left_running()

        async with (
            in_between(several, way),
            StandIns(*stand_ins().services[1:], Refusing("deepgram")) as services,
            several.served(bot_port) as page,
            several.project.bot(services.env, port=bot_port) as bot,
            chromium(microphone) as browser,
            browser.visit(page.url, "microphone") as visit,
        ):
            await choose(visit, way)
            await visit.button("Connect").click()
            told = await timed(visit.alert(REFUSALS[1].words, timeout=30))
            figures.append(f"{WAYS[way]}: {told:.1f} s from Connect to Deepgram's refusal")
            await visit.nothing_left_running()
            await bot.sessions_end()

    network.run(main)


def test_the_page_says_which_setting_of_livekit_is_wrong(several: Client, microphone: Path) -> None:
    no_server = "No LiveKit server answers at ws://localhost:7880. Check LIVEKIT_URL in server/.env"
    wrong = {
        "LiveKit refused the key. Check LIVEKIT_API_KEY and LIVEKIT_API_SECRET in server/.env": {
            "LIVEKIT_API_SECRET": "not-the-secret-of-the-livekit-server"
        },
        no_server: {},
        "The bot could not be started. Check its terminal or log.": {"LIVEKIT_URL": ""},
    }

    async def main() -> None:
        port = bots.free_port()
        async with (
            several.served(port) as page,
            chromium(microphone) as browser,
            browser.visit(page.url, "microphone") as visit,
        ):
            await choose(visit, "livekit")
            for words, settings in wrong.items():
                several.project.write_env(**KEYS, **livekit_server.KEYS)
                async with contextlib.AsyncExitStack() as stack:
                    if words != no_server:
                        await stack.enter_async_context(livekit_server.running(several.project))
                    several.project.write_env(**KEYS, **livekit_server.KEYS | settings)
                    services = await stack.enter_async_context(stand_ins())
                    await stack.enter_async_context(several.project.bot(services.env, port=port))
                    await visit.try_to_connect()
                    await visit.alert(words)
                    await visit.nothing_open("audio")

    try:
        network.run(main)
    finally:
        several.project.write_env(**KEYS, **livekit_server.KEYS)


def test_a_bot_that_stops_stays_in_its_room(several: Client, microphone: Path) -> None:
    """After SIGTERM, a session continues to its end, and no other begins."""

    async def main() -> None:
        port = bots.free_port()
        async with (
            livekit_server.running(several.project),
            stand_ins((QUESTION, TYPED)) as services,
            several.served(port) as page,
            several.project.bot(services.env, port=port, script="self_host.py") as bot,
            chromium(microphone) as browser,
            browser.visit(page.url, "microphone") as visit,
            browser.visit(page.url, "microphone") as late,
        ):
            await choose(visit, "livekit")
            await visit.connect()
            await expect(visit.entries("Bot", GREETING)).to_have_count(1, timeout=20_000)
            bot.process.terminate()
            await until(lambda: bot.answers("/ready"), lambda status: status == 503, "it stops")
            await choose(late, "livekit")
            await late.try_to_connect()
            await late.alert("All bots are busy")

            message = visit.page.get_by_label("Message")
            await message.fill(TYPED)
            await message.press("Enter")
            await expect(visit.entries("Bot", ANSWER)).to_have_count(1, timeout=20_000)
            assert bot.process.returncode is None
            await visit.button("Disconnect").click()
            await visit.nothing_left_running()
            async with asyncio.timeout(20):
                await bot.process.wait()
            assert bot.sessions() and not any(bot.sessions().values())

    network.run(main)


def test_a_turn_server_is_in_between(several: Client, microphone: Path) -> None:
    """Nothing goes directly between page and bot; with what the README says to set."""

    async def main() -> None:
        port = bots.free_port()
        async with (
            turn.running(several.project) as relay,
            stand_ins((QUESTION, TYPED)) as services,
            several.served(port) as page,
            several.project.bot(services.env, port=port, script="self_host.py") as bot,
            chromium(microphone) as browser,
            browser.visit(page.url, "microphone") as visit,
        ):
            await choose(visit, "smallwebrtc")
            await visit.page.evaluate(ONLY_RELAYED)
            await visit.connect()
            await expect(visit.entries("Bot", GREETING)).to_have_count(1, timeout=20_000)
            await visit.measured(lambda now: now["energyIn"] > 0.001, "the bot is heard")
            stats = "watched.peers.at(-1).getStats().then((all) => [...all.values()])"
            reports = await visit.page.evaluate(stats)
            local = [r for r in reports if r["type"] == "local-candidate"]
            assert {(r["candidateType"], r["address"]) for r in local} == {("relay", relay)}
            await visit.button("Disconnect").click()
            await visit.nothing_left_running()
            assert bot.errors() == []

    try:
        network.run(main)
    finally:
        several.project.write_env(**KEYS, **livekit_server.KEYS)


@pytest.mark.parametrize("way", ["smallwebrtc", "livekit"])
def test_the_bot_sees_the_camera(several: Client, microphone: Path, way: str) -> None:
    async def main() -> None:
        bot_port = bots.free_port()
        async with (
            in_between(several, way),
            stand_ins() as services,
            several.served(bot_port) as page,
            several.project.bot(services.env, port=bot_port) as bot,
            chromium(microphone) as browser,
            chromium(microphone, "--use-fake-ui-for-media-stream") as agreeing,  # also to screens
        ):
            async with agreeing.visit(page.url, "microphone", "camera") as visit:
                await choose(visit, way)
                await visit.connect()
                assert sorted(await visit.opened()) == ["audio", "video"]
                own = visit.page.get_by_label("Your camera")
                await until(
                    lambda: own.evaluate("(video) => video.videoWidth"), bool, "the camera shows"
                )
                await visit.measured(lambda now: now["videoOut"] > 10, "video goes out")
                await visit.looks(SCREENSHOTS / several.kind.name, "camera")

                await visit.button("Share screen").click()
                await expect(visit.button("Stop sharing")).to_be_visible()
                await visit.newest_track_goes_out()
                await visit.button("Stop sharing").click()
                await expect(visit.button("Share screen")).to_be_visible()
                await visit.newest_track_goes_out()

                await visit.button("Stop camera").click()
                await visit.nothing_open("video")
                await visit.button("Camera").click()
                await visit.newest_track_goes_out()
                await visit.button("Disconnect").click()
                await visit.nothing_left_running()

            if way == "livekit":
                assert bot.errors() == []
                return  # the rest does not depend on the way
            async with browser.visit(page.url, "microphone") as visit:  # the camera is not allowed
                await choose(visit, way)
                await visit.connect()
                await visit.alert("The camera is blocked. Allow it")
                await expect(visit.entries("Bot", GREETING)).to_have_count(1, timeout=20_000)
                await visit.page.goto("about:blank")
                await bot.sessions_end(30)  # it hears that the page was left
            assert bot.errors() == []

    network.run(main)
