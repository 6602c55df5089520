"""Lets the voice begin with the first piece of an answer, while the model writes the rest.

A language model on your own machine may need two seconds for a sentence. The piece is a clause, or
a few words up to where a phrase begins: "Paris is the capital", and then "of France today."
"""

import re
from collections.abc import AsyncIterator

from pipecat.utils.text.base_text_aggregator import Aggregation, TextType
from pipecat.utils.text.simple_text_aggregator import SimpleTextAggregator

# Six characters or more up to a comma and the like, and what follows. After those of Chinese and
# Japanese there is no space.
CLAUSE = re.compile(r"\s*(\S.{4,}?(?:[,;:–—،؛]\s|[，、；：]))\s*(\S.*)", re.DOTALL)

MIN_WORDS = 4  # of a piece that is no clause; fewer sound like a sentence of their own
MIN_LETTERS = 4  # of its last word, which is then no article and no pronoun
# Words with which a phrase or a predicate begins, so that a voice may pause before them. A language
# without an entry is spoken in clauses.
PHRASES = {
    "de": "als an auf aus bei bis damit dass denn durch für gegen in mit nach ob oder ohne seit "
    "sondern sowie über um und unter von vor weil wenn wie zu zum zur zwischen "
    "hat haben ist kann können sind war waren werden wird",
    "en": "about after and as at because before between but by during for from if in into near of "
    "on or over since so than that through to under until when where which while who with without "
    "are can could has have is may must should was were will would",
    "es": "a aunque como con cuando desde donde durante en entre hasta mientras o para pero por "
    "porque que según si sin sobre y era es está están fue hay puede son tiene",
    "fr": "à afin avec car chez comme dans depuis dont du en entre et jusque mais où ou par parce "
    "pendant pour puis quand que qui sans si sous sur vers est était ont peut sont",
    "it": "a al alla che come con da dal dalla dove durante e fra in mentre nel nella o per perché "
    "quando se senza sotto su sul tra è era ha hanno può sono",
    "nl": "aan als bij binnen dan dat die door en in maar met na naar of om omdat onder op over "
    "sinds te tegen terwijl toen tot tussen uit van voor waar want zonder "
    "heeft is kan waren was zijn",
    "pt": "a ao até com como da de desde do durante e em entre mas na no onde ou para pela pelo "
    "por porque quando que se sem sob sobre é era está foi pode são tem",
}


class FirstClauseAggregator(SimpleTextAggregator):
    """Passes an answer on in sentences, the first of them in two pieces if it is long enough."""

    def __init__(self, *, language: str | None = None):
        super().__init__(language=language)
        self._phrases = PHRASES.get((language or "en").partition("-")[0], "").split()
        self._beginning: str | None = ""  # of the answer; None once a piece of it was passed on

    async def aggregate(self, text: str) -> AsyncIterator[Aggregation]:
        if self._beginning is not None:
            self._beginning += text
            if pieces := first_piece(self._beginning, self._phrases):
                first, text = pieces
                await super().reset()
                self._beginning = None
                yield Aggregation(text=first, type=TextType.SENTENCE)
        async for sentence in super().aggregate(text):
            self._beginning = None
            yield sentence

    async def flush(self) -> Aggregation | None:
        self._beginning = ""
        return await super().flush()

    async def handle_interruption(self) -> None:
        self._beginning = ""
        await super().handle_interruption()

    async def reset(self) -> None:
        self._beginning = ""
        await super().reset()


def first_piece(text: str, phrases: list[str]) -> tuple[str, str] | None:
    """Return the first piece of an answer and what follows, or None if it is not complete yet.

    Args:
        text: The beginning of the answer.
        phrases: Words before which a sentence may be split.
    """
    if clauses := CLAUSE.fullmatch(text):
        first, rest = clauses.groups()
        return first.strip(), rest
    words = list(re.finditer(r"\S+", text))
    for before, word in zip(words[MIN_WORDS - 1 :], words[MIN_WORDS:-1], strict=False):
        # The last word of the text may not be complete.
        is_end = before[0].isalpha() and len(before[0]) >= MIN_LETTERS
        if word[0].lower() in phrases and is_end:
            return text[: word.start()].strip(), text[word.start() :]
    return None
