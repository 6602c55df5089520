"""The conversation of the tests: its sentences, and the services for it.

The bot greets, the person asks, the bot answers. Each says one sentence, so that one request to
text to speech is one sentence to hear. Some pages are greeted with several sentences.
"""

import contextlib
from collections.abc import AsyncIterator, Iterable

import bots
import speech
import webrtc_client
from caller import EAR, Caller
from services import Cartesia, Deepgram, OpenAI
from standins import Service, StandIns

KEYS = {
    "DEEPGRAM_API_KEY": "a-deepgram-key",
    "OPENAI_API_KEY": "an-openai-key",
    "CARTESIA_API_KEY": "a-cartesia-key",
}
GREETING = "Hello, I am the bot of the loopback company."
SENTENCES = "Hello! I am your assistant. How can I help you today?"  # the first of one word
QUESTION = "What is the capital of France?"
ANSWER = "The capital of France is a city called Paris."


def stand_ins(
    questions: tuple[str, ...] = (QUESTION,), greeting: str = GREETING, more: Iterable[Service] = ()
) -> StandIns:
    """The three services of the quickstart. All these questions have the same answer."""
    return StandIns(
        # Told to listen for the bot's sentences too: it would tell if the bot heard itself.
        Deepgram(KEYS["DEEPGRAM_API_KEY"], [*questions, GREETING, ANSWER]),
        OpenAI(KEYS["OPENAI_API_KEY"], greeting, dict.fromkeys(questions, ANSWER)),
        Cartesia(KEYS["CARTESIA_API_KEY"]),
        *more,
    )


@contextlib.asynccontextmanager
async def called(bot: bots.Bot) -> AsyncIterator[Caller]:
    """Call the bot from a browser and hear its greeting; leave at the end."""
    async with webrtc_client.call(bot.url) as caller:
        await caller.ready()
        await caller.hear(GREETING)
        yield caller


async def converse(bot: bots.Bot) -> None:
    """Call the bot from a browser, hear the greeting, ask, hear the answer and leave."""
    async with called(bot) as caller:
        await caller.say(QUESTION)
        await caller.receive(
            "user-transcription", lambda data: data["text"] == QUESTION and data["final"]
        )
        await caller.hear(ANSWER)
    bright = speech.brightness(speech.speak(f"{GREETING} {ANSWER}", EAR), EAR)
    heard = speech.brightness(caller.heard, EAR)
    assert heard > bright / 3, f"the bot is muffled: {heard:.2%} above 4 kHz, of {bright:.2%}"
    await bot.sessions_end()
