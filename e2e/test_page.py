"""The page that the bot itself serves: one file, with which a person can talk with the bot."""

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import expect

import bots
import network
from clients import SCREENSHOTS, Visit, chromium, is_asked_twice, recording, timed, until
from conversation import ANSWER, GREETING, KEYS, QUESTION, SENTENCES, stand_ins
from editing import silence_ends_after
from firefox import HEADSET, SPEAKERS, firefox, person
from scripted import ENDINGS, ScriptedPeer, scripted_peer
from services import Refusing
from standins import StandIns

PICTURES = SCREENSHOTS / "page"
TYPED = "And what do you call the city on the river Seine?"
SERVICES = ("-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia")
SILENT = "OpenAI has not answered for 21 s. Check the network and the log."
WRONG_KEY = "OpenAI refused the key. Check OPENAI_API_KEY in server/.env, then start the bot again."


@pytest.fixture(scope="module")
def microphone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recording(tmp_path_factory.mktemp("microphone") / "person.wav")


@pytest.fixture(scope="module")
def project(quickstart: bots.Project) -> bots.Project:
    quickstart.write_env(**KEYS)
    return quickstart


@contextlib.asynccontextmanager
async def scripted_visit(
    project: bots.Project, microphone: Path
) -> AsyncIterator[tuple[ScriptedPeer, Visit]]:
    """The page, and a bot that does what a test says."""
    port = bots.free_port()
    async with (
        scripted_peer(port, project.server / "page.html") as bot,
        chromium(microphone) as browser,
        browser.visit(f"http://localhost:{port}/", "microphone") as visit,
    ):
        yield bot, visit


async def type_message(visit: Visit, text: str) -> None:
    message = visit.page.get_by_label("Message")
    await message.fill(text)
    await message.press("Enter")
    await expect(visit.entries("You", text)).to_have_count(1)
    await expect(message).to_be_focused()
    await expect(message).to_have_value("")


def test_a_person_talks_with_the_bot(project: bots.Project, microphone: Path) -> None:
    """Without the internet, and the page asks nobody but the bot for anything."""

    async def main() -> None:
        async with (
            stand_ins((QUESTION, TYPED), greeting=SENTENCES) as services,
            project.bot(services.env) as bot,
            chromium(microphone) as browser,
            browser.visit(f"{bot.url}/", "microphone") as visit,
        ):
            assert await visit.page.title() == "vbot-quickstart"
            await visit.connect()
            await expect(visit.entries("Bot", SENTENCES)).to_have_count(1, timeout=20_000)
            await visit.measured(lambda now: now["energyIn"] > 0.001, "the bot is heard")
            assert await visit.page.evaluate("watched.loudest") > 0.1
            await type_message(visit, TYPED)
            await expect(visit.entries("Bot", ANSWER)).to_have_count(1, timeout=20_000)
            await expect(visit.entries("You", QUESTION)).to_have_count(1, timeout=30_000)
            await expect(visit.entries("Bot", ANSWER)).to_have_count(2, timeout=20_000)

            quiet = await visit.heard() / 1000
            await visit.button("Mute").click()
            await until(lambda: visit.energy_of(packets=10), lambda e: e < quiet, "it falls silent")
            assert await visit.energy_of(packets=50) < quiet
            await visit.button("Unmute").click()
            await visit.heard(more_than=quiet)

            await visit.button("Disconnect").click()
            await visit.nothing_left_running()
            await visit.no_alert()
            await bot.sessions_end()
            assert bot.errors() == []
            assert services.names_asked() == services.hosts

    network.run(main)


def test_every_state_can_be_seen_and_read(project: bots.Project, microphone: Path) -> None:
    """Only with the keyboard, and with a bot that stays in each state while it is checked."""

    async def state(visit: Visit, name: str, mood: str) -> None:
        await expect(visit.page.locator(".mood")).to_have_text(mood)
        await visit.looks(PICTURES, name)

    async def main() -> None:
        async with scripted_visit(project, microphone) as (bot, visit):
            await visit.ready()
            await state(visit, "start", "Ready to talk")
            await visit.press("button", "Connect")
            await asyncio.wait_for(bot.asked.wait(), 20)
            await state(visit, "connecting", "Connecting")
            await bot.send("bot-ready", version="2.2.0")
            await expect(visit.status).to_have_text("Connected")
            await bot.send("bot-llm-started")
            await state(visit, "thinking", "Thinking")

            await bot.send("bot-started-speaking")
            await bot.says(1, GREETING)
            await bot.send("bot-llm-stopped")
            await bot.send("bot-stopped-speaking")
            await state(visit, "listening", "Listening")
            await bot.send("user-started-speaking")
            await is_asked_twice(visit, bot, state)
            await expect(visit.entries("Bot", "The capital of France cut off")).to_have_count(1)

            await visit.press("button", "Mute")
            await state(visit, "muted", "Muted")
            await visit.press("button", "Unmute")
            message = visit.page.get_by_label("Message")
            await message.press_sequentially("شكراً")
            await message.press("Enter")
            await expect(visit.entries("You", "شكراً")).to_have_count(1)
            await bot.got_message("send-text", content="شكراً")

            await bot.send("error", fatal=False, error="Error code: 500 - {'of': 'an engine'}")
            await bot.send("server-message", problem=SILENT)
            await visit.alert(SILENT)
            await state(visit, "silent-model", "Thinking")
            await bot.send("user-started-speaking")
            await visit.no_alert()
            await bot.send("user-stopped-speaking")
            await bot.send("server-message", problem=SILENT, waiting="OpenAI")
            await visit.alert(SILENT)
            await bot.send("server-message", waiting="")
            await visit.alert(SILENT)
            await bot.send("server-message", problem="", waiting="")  # it answers again
            await visit.no_alert()
            await bot.send("server-message", problem=SILENT)
            await visit.alert(SILENT)
            await type_message(visit, TYPED)  # another attempt
            await visit.no_alert()
            await bot.send("error", fatal=True, error=WRONG_KEY)
            await visit.alert(f"The bot stopped: {WRONG_KEY}")
            await state(visit, "wrong-key", "Something went wrong")
            assert "an engine" not in await visit.page.content()
            bot.asked.clear()
            await visit.press("button", "Retry")
            await asyncio.wait_for(bot.asked.wait(), 20)
            await bot.send("bot-ready", version="2.2.0")
            await expect(visit.status).to_have_text("Connected")
            await visit.press("button", "Disconnect")
            await visit.nothing_left_running()

    network.run(main, timeout=300)


def test_a_session_that_the_bot_ends_is_no_failure(project: bots.Project, microphone: Path) -> None:
    """But one that ends without a word is."""

    async def main() -> None:
        async with scripted_visit(project, microphone) as (bot, visit):
            mood = visit.page.locator(".mood")
            await visit.ready()
            for told, words in ENDINGS:
                await bot.greets(visit.press("button", "Connect"))
                await expect(visit.status).to_have_text("Connected")
                await expect(visit.page.locator("#hint")).to_have_text("")
                await bot.send("server-message", **told)
                await expect(mood).not_to_have_text("Ended")  # it may still speak
                await bot.leaves()
                await expect(mood).to_have_text("Ended")
                await expect(visit.page.locator("#hint")).to_have_text(words)
                await visit.no_alert()
            await visit.looks(PICTURES, "ended")
            await bot.greets(visit.press("button", "Connect"))
            await expect(visit.status).to_have_text("Connected")
            await bot.leaves()
            await visit.alert("The connection to the bot was lost.")
            await expect(mood).to_have_text("Something went wrong")

    network.run(main)


def test_a_real_bot_says_why_it_ends_the_session(project: bots.Project, microphone: Path) -> None:
    """Before it closes the connection: it is stopped, and before that, nobody speaks for long."""

    async def ends(patience: int, words: str) -> None:
        async with (
            stand_ins((TYPED,)) as services,
            project.bot(services.env) as bot,
            chromium(microphone) as browser,
        ):
            async with browser.visit(f"{bot.url}/", "microphone") as visit:
                await visit.connect()
                await expect(visit.entries("Bot", GREETING)).to_have_count(1, timeout=20_000)
                await visit.button("Mute").click()
                if patience == 300:
                    bot.process.terminate()
                hint = visit.page.locator("#hint")
                await expect(hint).to_have_text(words, timeout=60_000)
                await expect(visit.page.locator(".mood")).to_have_text("Ended")
                await visit.no_alert()
            lines = [line for line in bot.log.splitlines() if "Ended after" in line]
            end = "the server is stopping" if patience == 300 else "nobody spoke for 5 minutes"
            assert len(lines) == 1 and lines[0].endswith(end), lines
            assert bot.errors() == []

    async def main() -> None:
        for patience, words in ((300, "The bot stopped. Try again later."), (8, ENDINGS[0][1])):
            with silence_ends_after(project.server, patience):
                await ends(patience, words)

    network.run(main, timeout=180)


PICTURE = Path(__file__).parents[1] / "docs/page.png"

# How far two pictures are apart, once both are small and grey: 0 is equal, 255 black on white.
_DISTANCE = """async (pictures) => {
    const small = async (picture) => {
        const image = new Image();
        image.src = "data:image/png;base64," + picture;
        await image.decode();
        const canvas = new OffscreenCanvas(48, 40);
        const context = canvas.getContext("2d");
        context.drawImage(image, 0, 0, 48, 40);
        const data = context.getImageData(0, 0, 48, 40).data;
        const grey = (i) => (data[4 * i] + data[4 * i + 1] + data[4 * i + 2]) / 3;
        return Array.from({ length: 48 * 40 }, (_, i) => grey(i));
    };
    const [one, other] = await Promise.all(pictures.map(small));
    return one.reduce((sum, grey, i) => sum + Math.abs(grey - other[i]), 0) / one.length;
}"""


def test_the_picture_in_the_readme(
    project: bots.Project, microphone: Path, request: pytest.FixtureRequest
) -> None:
    """`make picture` makes it anew. Fonts differ between machines, so it is compared when small."""

    async def main() -> None:
        async with scripted_visit(project, microphone) as (bot, visit):
            await visit.page.set_viewport_size({"width": 720, "height": 520})
            await visit.ready()
            await visit.button("Connect").click()
            await asyncio.wait_for(bot.asked.wait(), 20)
            await bot.send("bot-ready", version="2.2.0")
            await expect(visit.status).to_have_text("Connected")
            await bot.send("bot-started-speaking")
            await bot.says(1, "Hello! How can I help you?")
            await bot.send("bot-stopped-speaking")
            await bot.send("user-started-speaking")
            await bot.hears(QUESTION)
            await bot.send("user-stopped-speaking")
            await bot.send("bot-started-speaking")
            await bot.says(2, "The capital of France", "is a city called Paris.")
            await expect(visit.page.get_by_text("is a city called Paris.")).to_be_visible()
            await expect(visit.page.locator(".mood")).to_have_text("Speaking")
            await visit.page.emulate_media(reduced_motion="reduce")
            drawn = await visit.page.screenshot()
            if request.config.getoption("--update"):
                PICTURE.write_bytes(drawn)
            kept = PICTURE.read_bytes()
            blank = await visit.page.context.new_page()
            encoded = [base64.b64encode(picture).decode() for picture in (drawn, kept)]
            distance = await blank.evaluate(_DISTANCE, encoded)
            assert distance < 8, f"the page looks otherwise by now ({distance}): make picture"

    network.run(main)


def test_a_page_asks_for_the_token(vbot: Path, microphone: Path) -> None:
    """It also takes the token from its address, and keeps it only for its tab."""
    options = ("-t", "smallwebrtc", "-t", "websocket", *SERVICES, "--self-host")
    project = bots.generate(vbot, bots.PROJECTS / "token", "token", *options)
    right, wrong = "f00d+/==" * 4, "“f00d”"

    async def enter(visit: Visit, token: str) -> None:
        field = visit.page.get_by_label("Enter the token that you were given")
        await expect(field).to_be_focused(timeout=20_000)
        await expect(field).to_have_attribute("type", "password")
        await expect(visit.button("Connect")).to_have_count(1)
        await field.fill(token)
        await visit.press("button", "Connect")

    async def main() -> None:
        port = bots.free_port()
        address = f"http://localhost:{port}/"
        async with (
            scripted_peer(port, project.server / "page.html") as bot,
            chromium(microphone) as browser,
        ):
            bot.token = right
            async with browser.visit(address, "microphone") as visit:
                await visit.press("button", "Connect")
                mood = visit.page.locator(".mood")
                await expect(mood).to_have_text("Enter the token", timeout=20_000)
                await visit.no_alert()  # nobody did anything wrong
                await visit.looks(PICTURES, "token")
                await enter(visit, wrong)
                await visit.alert("The token was refused.")
                await visit.looks(PICTURES, "wrong-token")
                await enter(visit, wrong)
                await visit.alert("The token was refused.")
                await bot.greets(enter(visit, f" {right}\n"))
                await expect(visit.status).to_have_text("Connected")
                await visit.no_alert()
                await visit.press("button", "Disconnect")
                await visit.page.reload()
                await bot.greets(visit.press("button", "Connect"))
                await expect(visit.status).to_have_text("Connected")
                bot.token = "another"  # the old one is forgotten once it is refused
                await visit.press("button", "Disconnect")
                await visit.press("button", "Connect")
                await visit.alert("The token was refused.")
                await bot.greets(enter(visit, "another"))
                await expect(visit.status).to_have_text("Connected")
            async with browser.visit(f"{address}#token={right}", "microphone") as visit:
                assert await visit.page.evaluate("location.href") == address
                assert await visit.page.evaluate("history.length") <= 2
                bot.token = right
                await bot.greets(visit.press("button", "Connect"))
                await expect(visit.status).to_have_text("Connected")
                stays = "Object.keys(localStorage).length + document.cookie.length"
                assert await visit.page.evaluate(stays) == 0
                await visit.press("button", "Disconnect")
                bot.refuses = 403
                await visit.press("button", "Connect")
                await visit.alert("Set PIPECAT_ALLOWED_ORIGINS in server/.env")
            assert bot.asked_for and not any("f00d" in url for url in bot.asked_for)

    network.run(main, timeout=300)


def test_a_person_talks_with_the_bot_in_firefox(project: bots.Project) -> None:
    async def main() -> None:
        async with (
            stand_ins((QUESTION, TYPED)) as services,
            project.bot(services.env) as bot,
            person() as one,
            firefox(one) as browser,
            browser.visit(f"{bot.url}/") as visit,
        ):
            await visit.connect()
            await expect(visit.entries("Bot", GREETING)).to_have_count(1, timeout=20_000)
            await expect(visit.page.locator(".mood")).to_have_text("Listening", timeout=20_000)
            assert await visit.page.evaluate("watched.loudest") > 0.1
            await one.say(QUESTION, HEADSET)
            await expect(visit.entries("You", QUESTION)).to_have_count(1, timeout=20_000)
            await expect(visit.entries("Bot", ANSWER)).to_have_count(1, timeout=20_000)
            async with one.listening(SPEAKERS):
                await type_message(visit, TYPED)
                await one.hear(ANSWER, timeout=20)
            await visit.button("Disconnect").click()
            await visit.nothing_left_running()
            await visit.no_alert()
            await bot.sessions_end()
            assert bot.errors() == []

    network.run(main)


def test_typing_needs_no_microphone(project: bots.Project, microphone: Path) -> None:
    """Blocked at first, and then allowed; test_pages.py has other reasons."""

    async def main() -> None:
        async with (
            stand_ins((TYPED,)) as services,
            project.bot(services.env) as bot,
            chromium(microphone) as browser,
            # A page that may use nothing is told only the way to the internet, and here is none.
            browser.visit(f"{bot.url}/", "camera") as visit,
        ):
            await visit.connect()
            await visit.alert("The microphone is blocked. Allow it for this page")
            await expect(visit.page.get_by_label("Message")).to_be_focused()
            await expect(visit.entries("Bot", GREETING)).to_have_count(1, timeout=20_000)
            await visit.measured(lambda now: now["energyIn"] > 0.001, "the bot is heard")
            await expect(visit.page.locator(".mood")).to_have_text(
                "No microphone: type", timeout=20_000
            )
            await type_message(visit, TYPED)
            await expect(visit.entries("Bot", ANSWER)).to_have_count(1, timeout=20_000)

            await visit.looks(PICTURES, "no-microphone")
            await visit.page.context.grant_permissions(["microphone"])
            await visit.button("Unmute").click()
            await visit.heard(more_than=0.001)
            await visit.newest_track_goes_out()
            await expect(visit.button("Mute")).to_be_visible()
            await visit.no_alert()
            await visit.button("Disconnect").click()
            await visit.nothing_left_running()
            await bot.sessions_end()
            assert bot.errors() == []

    network.run(main)


def test_the_page_says_which_key_is_wrong(project: bots.Project, microphone: Path) -> None:
    """The text is the bot's; test_clients.py tests those of other services."""
    hosts = [it for it in stand_ins().services if it.name != "openai"]

    async def main() -> None:
        async with (
            StandIns(*hosts, Refusing("openai")) as services,
            project.bot(services.env) as bot,
            chromium(microphone) as browser,
            browser.visit(f"{bot.url}/", "microphone") as visit,
        ):
            for _ in range(2):  # the bot is there for the next one
                await visit.try_to_connect()
                await visit.alert("OPENAI_API_KEY in server/.env", timeout=30)
                await expect(visit.page.get_by_role("alert")).to_contain_text("refused the key")
                await visit.nothing_left_running()
                await bot.sessions_end()
            said = await visit.page.content()
            assert not any(key in said for key in KEYS.values())
            assert "a-w*****key" not in said  # which OpenAI says

    network.run(main)


def test_the_page_says_soon_that_nothing_listens(project: bots.Project, microphone: Path) -> None:
    """The session goes on in writing, because a person reads the page."""
    address = {"CARTESIA_TTS_BASE_URL": f"ws://127.0.0.1:{bots.free_port()}/tts/websocket"}
    hosts = [it for it in stand_ins((TYPED,)).services if it.name != "cartesia"]

    async def main() -> None:
        async with (
            StandIns(*hosts) as services,
            project.bot(services.env | address) as bot,
            chromium(microphone) as browser,
            browser.visit(f"{bot.url}/", "microphone") as visit,
        ):
            await visit.connect()
            hint = visit.page.get_by_text("Waiting for Cartesia")
            await expect(hint).to_be_visible(timeout=5_000)
            await visit.alert("Cartesia cannot be reached. Check its address in server/.env", 10)
            await visit.looks(PICTURES, "no-voice", all_of_them=False)
            await type_message(visit, TYPED)
            await services.wait_for("openai", "chat", lambda asked: TYPED in str(asked), 20)
            # The framework gives a voice up after three sentences: greeting, apology, answer.
            await visit.nothing_left_running()
            await bot.sessions_end()

    network.run(main)


def test_the_page_says_that_the_model_is_loading(
    vbot: Path, microphone: Path, tmp_path: Path
) -> None:
    """It says so until it is loaded, even after the bot said so and the person spoke again."""
    local = ("--stt", "deepgram", "--llm", "ollama", "--tts", "cartesia")
    options = ("loads", "-t", "smallwebrtc", "-m", "cascade", *local)
    project = bots.generate(vbot, tmp_path, *options)

    async def main() -> None:
        async with scripted_visit(project, microphone) as (bot, visit):
            await visit.press("button", "Connect")
            await asyncio.wait_for(bot.asked.wait(), 20)
            await bot.send("bot-ready", version="2.2.0")
            await expect(visit.status).to_have_text("Connected")
            hint = visit.page.get_by_text("llama3.2 is loading")
            await bot.send("server-message", loading="llama3.2")
            await expect(hint).to_be_visible()
            for event in ("bot-started-speaking", "bot-stopped-speaking", "user-started-speaking"):
                await bot.send(event)
            await expect(hint).to_be_visible()
            await bot.send("server-message", loading="")
            await expect(hint).not_to_be_visible()

    network.run(main)


def test_a_bot_that_dies_is_missed(
    project: bots.Project, microphone: Path, figures: list[str]
) -> None:
    async def main() -> None:
        async with (
            stand_ins() as services,
            project.bot(services.env) as bot,
            chromium(microphone) as browser,
            browser.visit(f"{bot.url}/", "microphone") as visit,
        ):
            await visit.connect()
            with bot.stopped():
                await visit.reconnecting()
                await visit.page.screenshot(path=PICTURES / "reconnecting.png")
            await expect(visit.status).to_have_text("Connected")
            await bot.die()
            noticed = await visit.reconnecting()
            assert noticed < 4
            told = await timed(visit.alert("The connection to the bot was lost", timeout=60))
            figures.append(f"page: {noticed:.1f} s to Reconnecting, {noticed + told:.1f} s to why")
            await visit.nothing_left_running()

    network.run(main)


def test_the_conversation_is_in_order(project: bots.Project, microphone: Path) -> None:
    """Whatever order the messages come in."""

    async def main() -> None:
        async with scripted_visit(project, microphone) as (bot, visit):
            await bot.greets(visit.button("Connect").click())
            await bot.send("bot-started-speaking")
            await bot.says(1, "One two.")  # before its first message
            await bot.says(1, "", "One two.", status="new")
            await bot.says(2, "", "Three four.", status="new")
            await bot.says(2, "Three", "four.")
            await bot.send("bot-stopped-speaking")
            await bot.says(2, "Three four.")  # late
            await bot.hears("Five", final=False)
            await bot.hears("Five six.")
            await bot.hears("Seven")
            await bot.hears("seven eight.")
            await bot.send("bot-started-speaking")
            await bot.says(3, "", "Nine ten.", status="new")
            await bot.says(3, "Nine", "ten.")
            message = visit.page.get_by_label("Message")
            await message.fill("Stop.")
            await message.press("Enter")
            await bot.got_message("send-text", content="Stop.")
            await bot.send("bot-interrupted")
            await bot.send("bot-stopped-speaking")
            await bot.send("bot-started-speaking")
            await bot.says(4, "", "Never said.", status="new")
            await bot.send("bot-interrupted")
            await bot.send("bot-stopped-speaking")
            await bot.send("bot-started-speaking")
            await bot.says(5, "Said as a whole.")  # by a voice that tells no words
            await bot.send("bot-stopped-speaking")
            await bot.send("bot-interrupted")
            await bot.send("bot-output", text="Written.", segment_id=6, will_be_spoken=False)
            await bot.send("bot-started-speaking")
            await bot.says(7, "Left", "unsaid.")
            await expect(visit.page.locator("li").last).to_contain_text("unsaid")
            await visit.button("Disconnect").click()
            await visit.nothing_left_running()
            lines = [" ".join(t.split()) for t in await visit.log.locator("li").all_inner_texts()]
            assert lines == [
                "Bot One two. Three four.",
                "You Five six. Seven seven eight.",
                "Bot Nine cut off",
                "You Stop.",
                "Bot Said as a whole.",
                "Bot Written. Left cut off",
            ]

    network.run(main)


def test_the_page_says_what_is_wrong(project: bots.Project, microphone: Path) -> None:
    async def main() -> None:
        port = bots.free_port()
        url = f"http://localhost:{port}/"
        page = project.server / "page.html"
        async with chromium(microphone) as browser, contextlib.AsyncExitStack() as stack:
            async with scripted_peer(port, page) as bot:
                for status, words in (
                    (400, "The bot does not take SmallWebRTC now."),
                    (429, "All bots are busy."),
                    (500, "The bot could not be started (500)."),
                    (503, "The bot takes no more sessions now."),
                ):
                    async with browser.visit(url, "microphone") as visit:
                        bot.refuses = status
                        await visit.button("Connect").click()
                        await visit.alert(words)
                        assert "for programs" not in await visit.page.content()
                        await visit.nothing_left_running()
                bot.refuses = 0

                async with browser.visit(url, "microphone", stop_clock=True) as visit:
                    await visit.button("Connect").click()
                    await asyncio.wait_for(bot.asked.wait(), 20)
                    await visit.page.clock.run_for(31_000)
                    await visit.alert("The bot did not answer within 30 seconds.")
                    await visit.nothing_left_running()

                async with browser.visit(url, "microphone") as visit:
                    bot.hidden = True
                    await visit.button("Connect").click()
                    await visit.alert(
                        "The bot answers, but sound does not get through.", timeout=40
                    )
                    await visit.nothing_left_running()
                    bot.hidden = False

                async with browser.visit(url, "microphone") as visit:
                    await visit.button("Connect").click()
                    await visit.button("Cancel").click()
                    await visit.nothing_left_running()
                    await visit.no_alert()
                    await bot.greets(visit.button("Connect").click())
                    await bot.leaves()
                    await visit.alert("The connection to the bot was lost.")
                    await visit.nothing_left_running()

                late = await stack.enter_async_context(browser.visit(url, "microphone"))
            await late.button("Connect").click()  # the bot was stopped meanwhile
            await late.alert(f"No bot answers at http://localhost:{port}. Start it in server/")
            await late.nothing_left_running()
            await late.looks(PICTURES, "no-bot")

    network.run(main, timeout=300)


def test_page_and_bot_see_each_other(vbot: Path, microphone: Path) -> None:
    options = ("-t", "smallwebrtc", *SERVICES, "--video-input", "--video-output", "--self-host")
    project = bots.installed(vbot, "page-video", *options)
    project.write_env(**KEYS)

    async def main() -> None:
        async with (
            stand_ins() as services,
            project.bot(services.env, script="self_host.py") as bot,
            chromium(microphone) as browser,
        ):
            async with browser.visit(f"{bot.url}/", "microphone", "camera") as visit:
                await visit.connect()
                assert await visit.opened() == ["audio", "video"]
                await expect(visit.entries("Bot", GREETING)).to_have_count(1, timeout=20_000)
                await visit.measured(lambda now: now["videoOut"] > 10, "video goes out")
                await visit.looks(PICTURES, "camera")
                await visit.button("Stop camera").click()
                await visit.nothing_open("video")
                await visit.button("Camera").click()
                await visit.newest_track_goes_out()
                await visit.button("Disconnect").click()
                await visit.nothing_left_running()
                await bot.sessions_end()

            async with browser.visit(f"{bot.url}/", "microphone") as visit:
                await visit.connect()
                await visit.alert("The camera cannot be used. Allow it for this page")
                await expect(visit.entries("Bot", GREETING)).to_have_count(1, timeout=20_000)
                await visit.page.goto("about:blank")
                await bot.sessions_end(30)  # it hears that the page was left
            assert bot.errors() == []

    network.run(main)
