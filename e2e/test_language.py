"""A bot with a language tells it to each of its services, in the browser and on the telephone."""

from pathlib import Path

import pytest
from playwright.async_api import expect

import bots
import network
import socket_clients
from clients import SCREENSHOTS, chromium, recording
from conversation import ANSWER, GREETING, KEYS, QUESTION, converse, stand_ins
from phones import TwilioCaller

TAG = "de"
SERVICES = ["-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia"]
ACCOUNT = {"TWILIO_ACCOUNT_SID": TwilioCaller.account, "TWILIO_AUTH_TOKEN": "a-twilio-token"}


@pytest.fixture(scope="module")
def project(vbot: Path) -> bots.Project:
    options = ["-t", "smallwebrtc", "-t", "twilio", *SERVICES, "--language", TAG]
    project = bots.installed(vbot, "language", *options)
    project.write_env(**KEYS, **ACCOUNT)
    return project


def test_each_service_is_told_the_language(project: bots.Project) -> None:
    """The sentences are English, because the stand-ins do not depend on the language."""

    async def conversations() -> None:
        async with stand_ins() as services, project.bot(services.env) as bot:
            await converse(bot)
            async with socket_clients.call(TwilioCaller, bot.url) as caller:
                await caller.hear(GREETING)
                await caller.say(QUESTION)
                await caller.hear(ANSWER)
            await bot.sessions_end()

            listens = services.requests("deepgram", "listen")
            assert [asked["language"] for asked in listens] == [TAG] * 2
            spoken = services.requests("cartesia", "speak")
            assert [said["transcript"].strip() for said in spoken] == [GREETING, ANSWER] * 2
            assert {said["language"] for said in spoken} == {TAG}
            chats = services.requests("openai", "chat")
            assert len(chats) == 4
            for chat in chats:
                assert chat["messages"][0]["content"].endswith(" Answer in German.")
            assert bot.errors() == []

    network.run(conversations)


def test_the_page_speaks_the_language(project: bots.Project, tmp_path: Path) -> None:
    """From the first view to the end of a conversation, no word on the page is English."""

    async def conversation() -> None:
        async with (
            stand_ins() as services,
            project.bot(services.env) as bot,
            chromium(recording(tmp_path / "person.wav")) as browser,
            browser.visit(f"{bot.url}/", "microphone") as visit,
        ):
            assert await visit.page.evaluate("document.documentElement.lang") == TAG
            await expect(visit.status).to_have_text("Nicht verbunden")
            await visit.button("Verbinden").click()
            await expect(visit.status).to_have_text("Verbunden", timeout=45_000)
            log = visit.page.get_by_role("log", name="Gespräch")
            await expect(log).to_contain_text(f"Bot {GREETING}", timeout=20_000)
            await visit.button("Stumm schalten").click()
            await expect(visit.page.locator("#mood")).to_have_text("Stumm", timeout=20_000)
            await visit.page.get_by_label("Nachricht").fill(QUESTION)
            await visit.button("Senden").click()
            await expect(log).to_contain_text(f"Sie {QUESTION}")
            await expect(log).to_contain_text(f"Bot {ANSWER}", timeout=20_000)
            await visit.page.screenshot(path=SCREENSHOTS / "page-german.png")
            words = await visit.page.evaluate(
                "[...document.querySelectorAll('button, p, h1, .speaker, [aria-label]')]"
                ".map((e) => `${e.getAttribute('aria-label') ?? ''} ${e.textContent}`).join(' ')"
            )
            english = {
                "Connect",
                "Connected",
                "Mute",
                "Unmute",
                "Copy",
                "Save",
                "Send",
                "You",
                "Message",
            }
            assert english.isdisjoint(words.split()), words
            await visit.button("Beenden").click()
            await expect(visit.page.locator("#mood")).to_have_text("Bereit zum Gespräch")
            await visit.no_alert()

    network.run(conversation)
