"""The web clients: they build without a warning, and a person can use them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.async_api import expect

import bots
import network
from clients import (
    FAR_AWAY,
    KINDS,
    SCREENSHOTS,
    Chromium,
    Client,
    Kind,
    Visit,
    built,
    chromium,
    recording,
    timed,
    until,
)
from conversation import ANSWER, GREETING, KEYS, QUESTION, stand_ins
from services import Refusing
from standins import StandIns

TYPED = "And what do you call the city on the river Seine?"


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.name)
def client(vbot: Path, request: pytest.FixtureRequest) -> Client:
    """Each client in turn, for a bot like the quickstart's."""
    kind: Kind = request.param
    made = built(vbot, kind, f"client-{kind.name}", "--transport", "smallwebrtc")
    made.project.write_env(**KEYS)
    return made


@pytest.fixture(scope="module")
def microphone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recording(tmp_path_factory.mktemp("microphone") / "person.wav")


def test_it_builds_without_a_warning(client: Client) -> None:
    assert client.warnings() == []


@contextlib.asynccontextmanager
async def something_else(port: int, answer: bytes = b"") -> AsyncIterator[asyncio.Event]:
    """Something that is no bot answers every connection so, or never; the event: somebody asked."""
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
    pictures = SCREENSHOTS / client.kind.name

    async def visits(browser: Chromium, url: str, bot_port: int) -> None:
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
            await expect(visit.page.get_by_label("Message")).to_be_disabled()
            await visit.looks(pictures, "not-connected")

            await visit.button("Connect").click()
            await visit.alert(f"No bot answers at http://localhost:{bot_port}")
            await visit.nothing_left_running()
            await visit.looks(pictures, "no-bot")

        async with browser.visit(url) as visit:  # the microphone is not allowed
            await visit.ready()
            await visit.button("Connect").click()
            await visit.alert("The microphone is blocked. Allow it")
            await visit.nothing_left_running()

        async with browser.visit(url.replace("localhost", FAR_AWAY)) as visit:
            await visit.ready()
            await visit.button("Connect").click()
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
            stand_ins((QUESTION, TYPED)) as services,
            client.served(bot_port) as page,
            client.project.bot(services.env, port=bot_port) as bot,
            chromium(microphone) as browser,
            browser.visit(page.url, "microphone") as visit,
        ):
            await visit.ready()
            await visit.connect()
            assert await visit.opened() == ["audio"]  # once: some browsers ask the person each time
            await expect(visit.entries("Bot", GREETING)).to_have_count(1, timeout=20_000)
            await visit.measured(lambda now: now["energyIn"] > 0.001, "the bot is heard")
            assert await visit.page.evaluate("watched.loudest") > 0.1
            await visit.looks(pictures, "connected")

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
            mute = visit.button("Mute")
            await mute.click()
            await expect(mute).to_have_attribute("aria-pressed", "true")
            quiet = heard / 1000
            await until(lambda: visit.energy_of(packets=10), lambda e: e < quiet, "it falls silent")
            assert await visit.energy_of(packets=50) < quiet
            await mute.click()
            await expect(mute).to_have_attribute("aria-pressed", "false")
            await until(
                lambda: visit.energy_of(packets=25), lambda e: e > quiet, "it is heard again"
            )
            await visit.looks(pictures, "conversation")

            await visit.button("Disconnect").click()
            await visit.nothing_left_running()
            await visit.no_alert()
            await bot.sessions_end()

            await visit.button("Connect").dblclick()
            await expect(visit.status).to_have_text("Connected", timeout=30_000)
            await expect(visit.entries("Bot", GREETING)).to_have_count(2, timeout=20_000)

            # The recording begins anew, and the bot hears it.
            microphones = visit.page.get_by_label("Microphone")
            await expect(microphones.get_by_role("option")).not_to_have_count(1)
            await microphones.select_option(index=1)
            await visit.newest_track_goes_out()
            await visit.heard(more_than=quiet)
            assert bot.errors() == []

            # A hiccup is not worth a word, a pause is, and after it the session goes on.
            with bot.stopped():
                await asyncio.sleep(0.7)
                await expect(visit.status).to_have_text("Connected")
            with bot.stopped():
                await visit.reconnecting()
            await expect(visit.status).to_have_text("Connected")

            await bot.die()
            noticed = await visit.reconnecting()
            assert noticed < 4
            told = await timed(visit.alert("The connection to the bot was lost", timeout=60))
            figures.append(
                f"{client.kind.name}: {noticed:.1f} s from the bot's death to Reconnecting, "
                f"{noticed + told:.1f} s to what to do"
            )
            await visit.nothing_left_running()
            assert services.names_asked() == services.hosts

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


def test_the_page_says_which_key_is_wrong(
    vbot: Path, client: Client, microphone: Path, figures: list[str]
) -> None:
    """One page, and one bot after another at its address."""
    refusals = REFUSALS if client.kind == KINDS[0] else (OPENAI,)
    projects = []
    for refusal in refusals:
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
                await visit.button("Connect").click()
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
            for refusal, project in zip(refusals, projects, strict=True):
                await refused(visit, refusal, project, port)
            assert await visit.barriers() == []

    network.run(main, timeout=300)


@pytest.fixture(scope="module")
def several(vbot: Path) -> Client:
    """A client with the choice between two connections, of a bot that takes video."""
    transports = ("--transport", "smallwebrtc", "--transport", "websocket")
    made = built(vbot, KINDS[0], "client-several", *transports, "--video-input")
    made.project.write_env(**KEYS)
    assert made.warnings() == []
    return made


def test_a_person_connects_another_way(
    several: Client, microphone: Path, figures: list[str]
) -> None:
    async def main() -> None:
        bot_port = bots.free_port()
        async with (
            stand_ins() as services,
            several.served(bot_port) as page,
            several.project.bot(services.env, port=bot_port) as bot,
            chromium(microphone) as browser,
            browser.visit(page.url, "microphone") as visit,
        ):
            await visit.ready()
            connection = visit.page.get_by_label("Connection")
            await expect(connection.get_by_role("option")).to_have_text(
                ["SmallWebRTC", "WebSocket"]
            )
            await connection.select_option("WebSocket")
            await visit.connect()
            await expect(connection).to_be_disabled()
            assert await visit.page.evaluate("watched.peers.length") == 0
            await expect(visit.entries("Bot", GREETING)).to_have_count(1, timeout=20_000)
            assert await visit.page.evaluate("watched.loudest") > 0.1
            await expect(visit.entries("You", QUESTION)).to_have_count(1, timeout=30_000)
            await expect(visit.entries("Bot", ANSWER)).to_have_count(1, timeout=20_000)
            assert bot.errors() == []

            await visit.button("Disconnect").click()
            await visit.nothing_left_running()
            await visit.no_alert()
            await expect(connection).to_be_enabled()
            await bot.sessions_end()

            await visit.connect()
            await bot.die()
            told = await timed(visit.alert("The connection to the bot was lost"))
            figures.append(f"WebSocket: {told:.1f} s from the bot's death to what to do")
            assert told < 2
            await visit.nothing_left_running()

        async with (
            StandIns(*stand_ins().services[1:], Refusing("deepgram")) as services,
            several.served(bot_port) as page,
            several.project.bot(services.env, port=bot_port) as bot,
            chromium(microphone) as browser,
            browser.visit(page.url, "microphone") as visit,
        ):
            await visit.ready()
            await visit.page.get_by_label("Connection").select_option("WebSocket")
            await visit.button("Connect").click()
            told = await timed(visit.alert(REFUSALS[1].words, timeout=30))
            figures.append(f"WebSocket: {told:.1f} s from Connect to Deepgram's refusal")
            await visit.nothing_left_running()
            await bot.sessions_end()

    network.run(main)


def test_the_bot_sees_the_camera(several: Client, microphone: Path) -> None:
    async def main() -> None:
        bot_port = bots.free_port()
        async with (
            stand_ins() as services,
            several.served(bot_port) as page,
            several.project.bot(services.env, port=bot_port) as bot,
            chromium(microphone) as browser,
        ):
            async with browser.visit(page.url, "microphone", "camera") as visit:
                await visit.ready()
                await visit.connect()
                assert sorted(await visit.opened()) == ["audio", "video"]
                own = visit.page.get_by_label("Your camera")
                camera = visit.button("Camera")
                await expect(camera).to_have_attribute("aria-pressed", "true")
                await until(
                    lambda: own.evaluate("(video) => video.videoWidth"), bool, "the camera shows"
                )
                await visit.measured(lambda now: now["videoOut"] > 10, "video goes out")
                await visit.looks(SCREENSHOTS / several.kind.name, "camera")

                await camera.click()
                await expect(camera).to_have_attribute("aria-pressed", "false")
                await visit.nothing_open("video")
                await camera.click()
                await visit.newest_track_goes_out()
                await visit.button("Disconnect").click()
                await visit.nothing_left_running()

            async with browser.visit(page.url, "microphone") as visit:  # the camera is not allowed
                await visit.ready()
                await visit.connect()
                await visit.alert("The camera is blocked. Allow it")
                await expect(visit.entries("Bot", GREETING)).to_have_count(1, timeout=20_000)
                ended = bot.log.count("Disconnected")
                await visit.page.goto("about:blank")

                async def told() -> bool:
                    return bot.log.count("Disconnected") > ended

                await until(told, bool, "the bot hears that the page was left")
            assert bot.errors() == []

    network.run(main)
