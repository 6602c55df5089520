"""Lets the voice begin with the first clause of an answer, while the model writes the rest.

A language model on your own machine may need two seconds for a sentence.
"""

import re
from collections.abc import AsyncIterator

from pipecat.utils.text.base_text_aggregator import Aggregation, TextType
from pipecat.utils.text.simple_text_aggregator import SimpleTextAggregator

# Six characters or more up to a comma and the like, and what follows. After those of Chinese and
# Japanese there is no space.
CLAUSE = re.compile(r"\s*(\S.{4,}?(?:[,;:–—،؛]\s|[，、；：]))\s*(\S.*)", re.DOTALL)


class FirstClauseAggregator(SimpleTextAggregator):
    """Passes an answer on in sentences, the first of them in two pieces if it has two clauses."""

    def __init__(self, *, language: str | None = None):
        super().__init__(language=language)
        self._beginning: str | None = ""  # of the answer; None once a piece of it was passed on

    async def aggregate(self, text: str) -> AsyncIterator[Aggregation]:
        if self._beginning is not None:
            self._beginning += text
            if clauses := CLAUSE.fullmatch(self._beginning):
                first, text = clauses.groups()
                await super().reset()
                self._beginning = None
                yield Aggregation(text=first.strip(), type=TextType.SENTENCE)
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
