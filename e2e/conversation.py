"""The conversation that the checks hold: what is said, and the services that hold it.

The bot greets, the person asks, the bot answers. One sentence each, so that one request to a voice
is one sentence to hear.
"""

from collections.abc import Iterable

from services import Cartesia, Deepgram, OpenAI
from standins import Service, StandIns

KEYS = {
    "DEEPGRAM_API_KEY": "a-deepgram-key",
    "OPENAI_API_KEY": "an-openai-key",
    "CARTESIA_API_KEY": "a-cartesia-key",
}
GREETING = "Hello, I am the bot of the loopback company."
QUESTION = "What is the capital of France?"
ANSWER = "The capital of France is a city called Paris."


def stand_ins(
    questions: tuple[str, ...] = (QUESTION,), greeting: str = GREETING, more: Iterable[Service] = ()
) -> StandIns:
    """The three services of the quickstart: each question has the same answer, others have none."""
    return StandIns(
        # Told to listen for the bot's sentences too: it would tell if the bot heard itself.
        Deepgram(KEYS["DEEPGRAM_API_KEY"], [*questions, GREETING, ANSWER]),
        OpenAI(KEYS["OPENAI_API_KEY"], greeting, dict.fromkeys(questions, ANSWER)),
        Cartesia(KEYS["CARTESIA_API_KEY"]),
        *more,
    )
