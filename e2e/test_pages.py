"""Tests each page with a bot in the page itself, which a test controls exactly.

No Python takes part in these conversations, so order and timing are exact. The pages are those of
the web clients, and server/page.html, which needs no build.
"""

import asyncio
import contextlib
import re
import wave
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from playwright.async_api import Page, expect

import bots
import network
from clients import FAR_AWAY, KINDS, RATE, SCREENSHOTS, Client, Kind, Visit, built, chromium, until

BOT = Path(__file__).parent / "lib/page_bot.js"
GREETING = "Hello! I am your assistant. How can I help you today?"
BLOCKED = (
    "The microphone is blocked. Allow it for this page in the browser's site settings, or type."
)
REFUSED = """
navigator.mediaDevices.getUserMedia = async () => {
  throw new DOMException("", "NotAllowedError");
};
"""
MARK = ".core > i:nth-child(3)"


@dataclass(frozen=True)
class Published:
    """A page that somebody serves; there is no bot where it asks for one."""

    name: str
    client: Client | None  # none: the page that needs nothing
    folder: Path

    @contextlib.asynccontextmanager
    async def served(self) -> AsyncIterator[str]:
        if self.client:
            async with self.client.served(bots.free_port()) as page:
                yield page.url
            return
        port = bots.free_port()
        command = ("python3", "-m", "http.server", "--bind", "localhost", str(port))
        async with bots.running(
            *command, cwd=self.folder, env=bots.plain_env(), port=port, path="/", name=self.name
        ) as page:
            yield f"{page.url}/page.html"


@pytest.fixture(
    scope="module",
    params=[None, *KINDS[:2]],  # React with Next.js has the same code as React with Vite
    ids=lambda kind: getattr(kind, "name", "page"),
)
def page(vbot: Path, request: pytest.FixtureRequest) -> Published:
    kind: Kind | None = request.param
    options = ("--transport", "smallwebrtc", "--eval")
    if kind:
        made = built(vbot, kind, f"page-{kind.name}", *options, "--video-input")
        return Published(made.name, made, made.folder)
    services = ("-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia")
    project = bots.generate(vbot, bots.PROJECTS / "page-alone", "page-alone", *options, *services)
    return Published("page-alone", None, project.server)


def of_client(page: Published, why: str) -> Client:
    """The client, for features that page.html does not have."""
    if not page.client:
        pytest.skip(f"page.html: {why}")
    return page.client


@pytest.fixture(scope="module")
def noise(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A microphone in a quiet room, as browsers leave it when they suppress noise: -80 dBFS."""
    return sound(tmp_path_factory.mktemp("noise") / "noise.wav", 10 ** (-80 / 20))


def sound(path: Path, level: float) -> Path:
    samples = np.random.default_rng(1).normal(0, level * 32767, 60 * RATE)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.astype(np.int16).tobytes())
    return path


@contextlib.asynccontextmanager
async def visited(
    page: Published,
    microphone: Path,
    *scripts: str,
    query: str = "",
    host: str = "localhost",
    flags: tuple[str, ...] = (),  # of Chromium
) -> AsyncIterator[Visit]:
    async with (
        page.served() as url,
        chromium(microphone, *flags) as browser,
        browser.visit("about:blank", "microphone", "camera", "clipboard-write") as visit,
    ):
        await visit.page.add_init_script(path=BOT)
        for script in scripts:
            await visit.page.add_init_script(script)
        await visit.page.goto(url.replace("localhost", host) + query)
        visit.hosts.discard("")
        await visit.ready()
        yield visit
        visit.hosts.clear()


async def said(page: Page) -> list[str]:
    """All entries, in the order in which they are shown."""
    texts = await page.locator(".entries li .text").all_inner_texts()
    return [" ".join(text.split()) for text in texts]


def test_sentences_keep_their_order(page: Published, noise: Path) -> None:
    """The framework reports words as spoken at once, and sentences as new when the bot starts."""

    async def main() -> None:
        async with visited(page, noise) as visit:
            await visit.connect()
            await visit.page.evaluate("bot.says(5, 'Hello!', 'Hello!')")
            await visit.page.evaluate("bot.send('bot-started-speaking'); bot.says(5, 'Hello!')")
            await visit.page.evaluate("bot.says(7, 'I am your assistant.')")
            await visit.page.evaluate("bot.says(9, 'How can I help you today?')")
            await visit.page.evaluate("bot.says(7, 'I am your assistant.', 'I am')")
            whole = visit.page.locator(".entries li")
            await expect(whole).to_contain_text(GREETING)
            await expect(whole.locator(".ahead").filter(has_text="Hello")).to_have_count(0)
            await visit.page.evaluate("bot.says(7, 'I am your assistant.', 'I am your assistant.')")
            await visit.page.evaluate("bot.send('bot-stopped-speaking')")
            last = "bot.says(9, 'How can I help you today?', 'How can I help you today?')"
            await visit.page.evaluate(last)  # the last words may come after the end
            await expect(visit.entries("Bot", GREETING)).to_have_count(1)
            await visit.button("Disconnect").click()
            await expect(visit.status).to_have_text("Not connected")
            assert await said(visit.page) == [GREETING]
            await expect(visit.page.get_by_text("cut off")).to_have_count(0)

    network.run(main)


def test_each_language_has_its_direction(page: Published, noise: Path) -> None:
    ends = """
    (text) => {
      const nodes = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
      let node = nodes.nextNode();
      while (node.length === 0) node = nodes.nextNode();
      const at = (i) => {
        const range = document.createRange();
        range.setStart(node, i);
        range.setEnd(node, i + 1);
        return range.getBoundingClientRect().left;
      };
      return at(node.length - 1) - at(0);
    }
    """

    async def main() -> None:
        async with visited(page, noise) as visit:
            await visit.connect()
            await visit.page.evaluate("bot.turn(1, 'מה השעה?', 'It is three.')")
            await visit.page.evaluate("bot.turn(3, 'What time is it?', 'الساعة الثالثة.')")
            await expect(visit.page.locator("[role=log] li")).to_have_count(4)
            texts = visit.page.locator("[role=log] li .text")
            to_the_right = [await texts.nth(i).evaluate(ends) > 0 for i in range(4)]
            assert to_the_right == [False, True, True, False]

    network.run(main)


@pytest.mark.parametrize("why", ["blocked", "missing", "insecure"])
def test_without_a_microphone_people_type(page: Published, noise: Path, why: str) -> None:
    scripts = {
        "blocked": REFUSED,
        "missing": REFUSED.replace("NotAllowedError", "NotFoundError"),
        "insecure": "Object.defineProperty(navigator, 'mediaDevices', { value: undefined });",
    }
    told = {
        "blocked": BLOCKED,
        "missing": "No microphone was found. Plug one in, or type.",
        "insecure": "Browsers allow",
    }

    async def main() -> None:
        async with visited(page, noise, scripts[why]) as visit:
            await visit.connect()
            await visit.alert(told[why])
            await expect(visit.page.locator(".mood")).to_have_text("No microphone: type")
            if page.client and why != "insecure":
                await expect(visit.button("Camera")).to_be_visible()  # it is not on either
                await expect(visit.button("Dismiss")).to_be_visible()
            message = visit.page.get_by_role("textbox", name="Message")
            await message.fill("What is 2 and 2?")
            await message.press("Enter")
            await expect(visit.entries("You", "What is 2 and 2?")).to_have_count(1)
            heard = "bot.heard.filter((m) => m.type === 'send-text').map((m) => m.data.content)"
            assert await visit.page.evaluate(heard) == ["What is 2 and 2?"]
            # Silence goes out: bots wait for sound.
            await visit.measured(lambda now: now["packetsOut"] > 20, "silence goes out")
            if why != "blocked":
                return
            # Allowed later, it is opened.
            await visit.page.evaluate("delete navigator.mediaDevices.getUserMedia")
            await visit.button("Unmute").click()
            await expect(visit.page.locator(".mood")).not_to_have_text("No microphone: type")
            await visit.no_alert()

    network.run(main)


def test_the_page_says_what_the_browser_asks(page: Published, noise: Path) -> None:
    waits = """
    const open = MediaDevices.prototype.getUserMedia;
    navigator.mediaDevices.getUserMedia = async function (...args) {
      await new Promise((resolve) => (window.allow = resolve));
      return open.apply(this, args);
    };
    navigator.permissions.query = async () => ({ state: "prompt" });
    """

    async def main() -> None:
        async with visited(page, noise, waits) as visit:
            await visit.try_to_connect()
            await expect(visit.page.locator(".mood")).to_have_text("Allow the microphone")
            await visit.page.wait_for_function("'allow' in window")
            await visit.button("Cancel").click()
            await visit.page.evaluate("allow(); delete window.allow")  # too late
            await visit.nothing_left_running()
            await expect(visit.page.locator(".mood")).to_have_text("Ready to talk")
            await expect(visit.page.locator(".level:visible")).to_have_count(0)
            await visit.try_to_connect()
            await expect(visit.page.locator(".mood")).to_have_text("Allow the microphone")
            await visit.page.wait_for_function("'allow' in window")
            await visit.page.evaluate("allow()")
            await expect(visit.page.locator(".mood")).not_to_have_text("Allow the microphone")

    network.run(main)


@pytest.mark.parametrize("host", ["localhost", FAR_AWAY])
def test_errors_are_in_words_for_whoever_reads_them(
    page: Published, noise: Path, host: str
) -> None:
    developer = host == "localhost"

    async def main() -> None:
        async with visited(page, noise, host=host) as visit:
            html = "() => new Response('<!doctype html><p>Hello', { status: 200 })"
            for start, words in {
                html: "is not a bot" if developer else "The bot could not be started.",
                "() => Promise.reject(new TypeError('Failed to fetch'))": (
                    "No bot answers at" if developer else "The bot could not be reached."
                ),
                "() => new Response('{}', { status: 500 })": "The bot could not be started",
                "() => new Response('{}', { status: 429 })": "All bots are busy.",
            }.items():
                await visit.page.evaluate(f"void (bot.start = {start})")
                await visit.try_to_connect()
                await visit.alert(words)
                await expect(visit.page.get_by_text("Unexpected token")).to_have_count(0)
                await expect(visit.page.get_by_text("Failed to fetch")).to_have_count(0)
                if not developer:
                    await expect(visit.page.get_by_text("uv run")).to_have_count(0)
                    await expect(visit.page.get_by_text(".env")).to_have_count(0)
            await visit.page.evaluate("delete bot.start")
            await visit.connect()
            failed = "'OpenAI has not answered. Check OPENAI_API_KEY in server/.env.'"
            await visit.page.evaluate(f"bot.send('server-message', {{ problem: {failed} }})")
            answered = "OpenAI has not answered." if developer else "The bot could not answer."
            await visit.alert(answered)
            await visit.page.evaluate(f"bot.send('error', {{ fatal: true, error: {failed} }})")
            await visit.alert("The bot stopped")
            await expect(visit.page.get_by_text("OPENAI_API_KEY")).to_have_count(int(developer))
            panel = visit.page.get_by_text("For developers")
            if page.client:
                await expect(panel).to_be_visible(visible=developer)

    network.run(main)


@pytest.mark.parametrize("may_play", [False, True])
def test_a_browser_that_plays_only_after_a_press(
    page: Published, noise: Path, may_play: bool
) -> None:
    """The page says so, and the bot is heard after the next press; elsewhere nothing is said."""
    policy = "no-user-gesture-required" if may_play else "user-gesture-required"
    paused = "document.querySelector('audio').paused"
    # A person waits longer for the bot than a press counts, which is five seconds in Chromium.
    late = """setTimeout(() => {
      const buttons = [...document.querySelectorAll("button")];
      buttons.find((button) => button.textContent.trim() === "Connect").click();
    }, 6000)"""

    async def main() -> None:
        async with visited(page, noise, flags=(f"--autoplay-policy={policy}",)) as visit:
            await visit.page.evaluate(late)
            await asyncio.sleep(12)  # to Chromium, whatever Playwright looks at is a press, too
            await expect(visit.status).to_have_text("Connected", timeout=45_000)
            if not may_play:
                await visit.alert("Press anywhere on this page to hear it.")
                assert await visit.page.evaluate(paused)
                await visit.page.get_by_role("heading").first.click()
            await until(lambda: visit.page.evaluate(paused), lambda it: not it, "the bot is heard")
            await visit.no_alert()

    network.run(main)


def test_a_part_that_cannot_be_loaded(page: Published, noise: Path) -> None:
    of_client(page, "it is one file")

    async def main() -> None:
        async with visited(page, noise) as visit:
            await visit.page.route(re.compile(r"\.js"), lambda route: route.abort())
            await visit.try_to_connect()
            await visit.alert("Part of the page could not be loaded. Check your connection, then")

    network.run(main)


@pytest.mark.parametrize("level", ["quiet", "none"])
def test_only_a_microphone_that_gives_nothing_is_silent(
    page: Published, noise: Path, tmp_path: Path, level: str
) -> None:
    microphone = noise if level == "quiet" else sound(tmp_path / "none.wav", 0)

    async def main() -> None:
        async with visited(page, microphone) as visit:
            await visit.connect()
            hint = visit.page.get_by_text("No sound from the microphone.")
            if level == "none":
                await expect(hint).to_be_visible(timeout=15_000)
            else:
                await asyncio.sleep(10)
                await expect(hint).to_have_count(0)

    network.run(main)


def test_the_sign_of_a_failure(page: Published, noise: Path) -> None:
    async def main() -> None:
        async with visited(page, noise) as visit:
            await visit.page.evaluate(
                "void (bot.start = () => new Response('{}', { status: 429 }))"
            )
            await visit.try_to_connect()
            await visit.alert("All bots are busy.")
            offset = """
            (mark) => {
              const { left } = getComputedStyle(mark, "::after");
              return left;
            }
            """
            assert await visit.page.locator(MARK).evaluate(offset) == "0px"
            await visit.page.emulate_media(forced_colors="active")
            color = "(mark) => getComputedStyle(mark).backgroundColor"
            text = await visit.page.evaluate("getComputedStyle(document.body).color")
            assert await visit.page.locator(MARK).evaluate(color) == text

    network.run(main)


def test_the_newest_entry_stays_in_sight(page: Published, noise: Path) -> None:
    """As entries come, and as a telephone is turned."""
    hidden = """
    () => {
      const last = (query) => [...document.querySelectorAll(query)].at(-1).getBoundingClientRect();
      return last("[role=log] li").bottom - last(".conversation").bottom;
    }
    """

    async def main() -> None:
        async with visited(page, noise) as visit:
            await visit.page.set_viewport_size({"width": 390, "height": 844})
            await visit.connect()
            for i in range(12):
                await visit.page.evaluate(
                    f"bot.turn({i}, 'What is question {i}?', 'It is one with an answer of {i} that"
                    " takes more than a line on a telephone.')"
                )
            await expect(visit.page.locator("[role=log] li")).to_have_count(24)
            for width, height in ((844, 390), (390, 844), (844, 390)):
                await visit.page.set_viewport_size({"width": width, "height": height})
                await until(lambda: visit.page.evaluate(hidden), lambda y: y <= 0, "it is in sight")

    network.run(main)


def test_a_telephone_with_a_camera(page: Published, noise: Path) -> None:
    """No row is mostly empty."""
    fullness = """
    () => {
      const stage = document.querySelector(".stage");
      const parts = [...stage.querySelectorAll(":scope > :not(.controls), .controls > *")];
      const boxes = parts.map((part) => part.getBoundingClientRect()).filter((box) => box.height);
      const rows = [];
      for (const { top, bottom, width } of boxes.toSorted((one, other) => one.top - other.top)) {
        const row = rows.at(-1);
        if (!row || top >= row.bottom) rows.push({ bottom, width });
        else Object.assign(row, { bottom: Math.max(bottom, row.bottom), width: row.width + width });
      }
      return Math.min(...rows.map(({ width }) => width / stage.clientWidth));
    }
    """
    of_client(page, "its bot sees nothing")

    async def main() -> None:
        async with visited(page, noise) as visit:
            await visit.page.set_viewport_size({"width": 390, "height": 844})
            await visit.connect()
            await expect(visit.page.get_by_label("Your camera")).to_be_visible()
            await until(lambda: visit.page.evaluate(fullness), lambda f: f > 0.5, "rows are full")
            await visit.page.screenshot(path=SCREENSHOTS / f"{page.name}-telephone.png")

    network.run(main)


def test_a_long_conversation_costs_no_more(page: Published, noise: Path) -> None:
    async def main() -> None:
        async with visited(page, noise) as visit:
            await visit.connect()
            devtools = await visit.page.context.new_cdp_session(visit.page)
            await devtools.send("Performance.enable")

            async def script() -> float:
                metrics = (await devtools.send("Performance.getMetrics"))["metrics"]
                return next(m["value"] for m in metrics if m["name"] == "ScriptDuration")

            async def turns(first: int, last: int) -> float:
                before = await script()
                await visit.page.evaluate(
                    """async ([first, last]) => {
                      for (let i = first; i < last; i++) {
                        bot.turn(i, `Question ${i}?`, `Answer ${i}` + " and a word".repeat(5));
                        await new Promise((resolve) => setTimeout(resolve, 10));
                      }
                    }""",
                    [first, last],
                )
                entries = visit.page.locator("[role=log] li")
                await expect(entries).to_have_count(2 * last, timeout=30_000)
                return (await script() - before) / (last - first)

            await turns(0, 10)
            early = await turns(10, 30)
            await turns(30, 280)
            late = await turns(280, 300)
            assert late < 2 * early, f"{early * 1000:.1f} ms a turn, later {late * 1000:.1f} ms"

    network.run(main)


def test_a_person_mutes_and_saves_a_conversation(page: Published, noise: Path) -> None:
    """Mute with the space bar, see who speaks in the tab, and keep the conversation."""

    async def main() -> None:
        async with visited(page, noise) as visit:
            await visit.connect()
            title = await visit.page.title()
            mood = visit.page.locator(".mood")
            await visit.page.evaluate("document.activeElement.blur()")
            await visit.page.keyboard.press(" ")
            await expect(mood).to_have_text("Muted")
            await visit.page.keyboard.press(" ")
            await expect(mood).to_have_text("Listening")
            message = visit.page.get_by_role("textbox", name="Message")
            await message.press("a")
            await message.press(" ")
            await expect(mood).to_have_text("Listening")
            await expect(message).to_have_value("a ")

            icon = "document.querySelector('link[rel=icon]').href"
            idle = await visit.page.evaluate(icon)
            await visit.page.evaluate("bot.send('bot-started-speaking')")
            await expect(visit.page).to_have_title(f"Speaking – {title}")
            if page.client:
                assert await visit.page.evaluate(icon) != idle
            await visit.page.evaluate("bot.says(1, 'Hello!'); bot.says(1, 'Hello!', 'Hello!')")
            await visit.page.evaluate("bot.send('bot-stopped-speaking')")
            await expect(visit.page).to_have_title(title)
            await visit.page.evaluate("bot.turn(3, 'Who are you?', 'I am Anna, of course.')")
            await expect(visit.page.locator("[role=log] li")).to_have_count(3)

            kept = "Bot: Hello!\nYou: Who are you?\nBot: I am Anna, of course.\n"
            async with visit.page.expect_download() as saved:
                await visit.button("Save").click()
            assert (await (await saved.value).path()).read_text() == kept
            assert (await saved.value).suggested_filename == f"{title}.txt"
            copies = "navigator.clipboard.writeText = async (text) => (window.copied = text)"
            await visit.page.evaluate(copies)
            await visit.button("Copy").click()
            assert await visit.page.evaluate("copied") == kept
            await visit.page.evaluate(
                "Object.defineProperty(navigator, 'clipboard', { value: undefined });"
                "document.execCommand = () => (window.copied = getSelection().toString())"
            )
            await visit.button("Copied").click()  # as over http
            assert "Anna" in await visit.page.evaluate("copied")
            async with visit.page.expect_download() as saved:
                await visit.button("Save as scenario").click()
            scenario = (await (await saved.value).path()).read_text()
            assert 'text_contains: "Anna"' in scenario
            await visit.button("Disconnect").click()
            await expect(visit.status).to_have_text("Not connected")
            await visit.connect()
            await visit.page.evaluate("bot.turn(1, 'And who are you?', 'It is Berta\\x07.')")
            await expect(visit.page.locator("[role=log] li")).to_have_count(5)
            async with visit.page.expect_download() as saved:
                await visit.button("Save as scenario").click()
            scenario = (await (await saved.value).path()).read_text()
            assert 'text_contains: "Berta"' in scenario and "Anna" not in scenario
            assert "\x07" not in scenario

    network.run(main)


def test_typed_text_is_below_the_sentence_that_it_cuts_off(page: Published, noise: Path) -> None:
    """It stands below the sentence that it cuts off."""

    async def main() -> None:
        async with visited(page, noise) as visit:
            await visit.connect()
            await visit.page.evaluate("bot.send('bot-started-speaking')")
            await visit.page.evaluate("bot.says(1, 'Once upon a time.')")
            await visit.page.evaluate("bot.says(1, 'Once upon a time.', 'Once upon')")
            message = visit.page.get_by_role("textbox", name="Message")
            await message.fill("Stop.")
            await message.press("Enter")
            await visit.page.evaluate("bot.send('bot-interrupted')")
            await visit.page.evaluate("bot.send('bot-stopped-speaking')")
            await expect(visit.page.locator("[role=log] li")).to_have_count(2)
            assert await said(visit.page) == ["Once upon", "Stop."]

    network.run(main)


def test_the_page_shows_that_the_model_is_still_writing(page: Published, noise: Path) -> None:
    """The model may write more after a tool, while the bot speaks: then nobody waits."""

    async def main() -> None:
        async with visited(page, noise) as visit:
            await visit.connect()
            mood = visit.page.locator(".mood")
            for kind in ("llm-started", "llm-stopped", "started-speaking", "llm-started"):
                await visit.page.evaluate(f"bot.send('bot-{kind}')")
            await visit.page.evaluate("bot.send('bot-stopped-speaking')")
            await expect(mood).to_have_text("Thinking")  # it still writes
            for kind in ("started-speaking", "llm-stopped", "stopped-speaking"):
                await visit.page.evaluate(f"bot.send('bot-{kind}')")
            await expect(mood).to_have_text("Listening")

    network.run(main)


def test_the_page_shows_where_the_time_went(page: Published, noise: Path) -> None:
    of_client(page, "it measures nothing")
    metrics = """
    bot.send("metrics", { ttfb: [
      { processor: "DeepgramSTTService#0", value: 0.2 },
      { processor: "OpenAILLMService#0", value: 0.4 },
      { processor: "CartesiaTTSService#0", value: 0.15 },
    ] })
    """

    async def main() -> None:
        async with visited(page, noise) as visit:
            await visit.connect()
            await visit.page.evaluate("bot.send('user-started-speaking')")
            await visit.page.evaluate("bot.send('user-transcription', { text: 'Hi', final: true })")
            await visit.page.evaluate("bot.send('user-stopped-speaking')")
            await visit.page.evaluate(metrics)
            await visit.page.evaluate("bot.send('bot-started-speaking'); bot.says(1, 'Hello!')")
            await visit.page.evaluate("bot.says(1, 'Hello!', 'Hello!')")
            await visit.page.evaluate("bot.send('bot-stopped-speaking')")
            answer = visit.entries("Bot", "Hello!")
            await expect(answer.get_by_text("OpenAI LLM 0.40 s")).to_be_hidden()
            await visit.button("Times").click()
            await expect(answer.get_by_text("OpenAI LLM 0.40 s")).to_be_visible()
            widths = "(bar) => [...bar.children].map((part) => part.offsetWidth)"
            hearing, thinking, speaking, *_ = await answer.locator(".bar").evaluate(widths)
            assert thinking == pytest.approx(2 * hearing, rel=0.1)
            assert hearing == pytest.approx(speaking * 4 / 3, rel=0.1)

    network.run(main)


def test_in_a_frame(page: Published, noise: Path) -> None:
    of_client(page, "it is no part of a site")

    async def main() -> None:
        async with visited(page, noise, query="?embed") as visit:
            await visit.try_to_connect()
            await expect(visit.button("Disconnect")).to_be_visible()
            await visit.page.evaluate("bot.turn(1, 'Who are you?', 'I am Anna.')")
            await expect(visit.page.locator(".presence")).to_be_visible()
            await expect(visit.page.get_by_role("status")).to_have_text("Listening")
            await expect(visit.button("Mute")).to_be_visible()
            for gone in ("header", ".talk", "footer"):
                await expect(visit.page.locator(gone).first).to_be_hidden()

    network.run(main)


def test_its_own_tests_pass(page: Published) -> None:
    client = of_client(page, "it has no tests")
    client.npm("test")
    assert "pass 5" in client.said["test"]


def put(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))


def test_a_message_of_ones_own(page: Published, noise: Path) -> None:
    """Exactly as client/README.md says. This changes the page, so it runs last."""
    client = of_client(page, "it is not for changes")
    readme = (page.folder / "README.md").read_text()
    blocks = re.findall(r"^```(?:js|tsx)\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1
    shown = re.search(r"show `(.*?)`", readme)
    assert shown
    plain = client.kind == KINDS[0]
    code = page.folder / ("src/main.js" if plain else "src/App.tsx")
    above = "const session = new Session();\n"
    if not plain:
        above = "  useEffect(() => showSigns(session), [session]);\n"
    put(code, above, above + blocks[0])
    put(page.folder / "index.html" if plain else code, "<footer>", f"{shown[1]}<footer>")
    client.npm("run", "lint")
    client.npm("run", "build")

    async def main() -> None:
        async with visited(page, noise) as visit:
            await visit.connect()
            await visit.page.evaluate("bot.send('server-message', { days: 32 })")
            await expect(visit.page.get_by_text("32 days")).to_be_visible()

    network.run(main)
