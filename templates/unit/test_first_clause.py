"""vbot/first_clause.py: the first clause of an answer is passed on alone."""

import asyncio
from collections.abc import Iterable

import pytest

from vbot.first_clause import FirstClauseAggregator


async def passed_on(aggregator: FirstClauseAggregator, pieces: Iterable[str]) -> list[str]:
    found = []
    for piece in pieces:
        found += [one.text async for one in aggregator.aggregate(piece)]
    if rest := await aggregator.flush():
        found.append(rest.text)
    return found


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Of course, I can. You may ask.", ["Of course,", "I can.", "You may ask."]),
        ("Yes, I can do that.", ["Yes, I can do that."]),  # too short to be spoken alone
        ("It is Paris. You know, the city.", ["It is Paris.", "You know, the city."]),
        ("It is 1,000 metres. Good.", ["It is 1,000 metres.", "Good."]),
        ("我想这很好，谢谢你。再见。", ["我想这很好，", "谢谢你。", "再见。"]),
        ("", []),
        # Else before a phrase, so that no phrase is split.
        (
            "Paris is the capital city of France today. Good.",
            ["Paris is the capital city", "of France today.", "Good."],
        ),
        (
            "The best time to visit is early summer. Then it is warm.",
            ["The best time to visit", "is early summer.", "Then it is warm."],
        ),
        ("I will tell you when the train leaves.", ["I will tell you when the train leaves."]),
        ("You can get to it by bus.", ["You can get to it by bus."]),
        ("I am sure that it is in Rome.", ["I am sure that it is in Rome."]),
        ("You reach the old town by bus.", ["You reach the old town", "by bus."]),
        ("It is in Rome.", ["It is in Rome."]),  # too short
        ("That is a nice question. And you?", ["That is a nice question.", "And you?"]),
        (
            "It costs about 3.50 dollars for two. Fine.",
            ["It costs about 3.50 dollars", "for two.", "Fine."],
        ),
    ],
)
@pytest.mark.parametrize("size", [1, 4])
def test_clauses(text: str, pieces: list[str], size: int) -> None:
    parts = [text[at : at + size] for at in range(0, len(text), size)]
    assert asyncio.run(passed_on(FirstClauseAggregator(), parts)) == pieces


@pytest.mark.parametrize(
    ("language", "text", "pieces"),
    [
        (
            "de-AT",
            "Wien ist die Hauptstadt von ganz Österreich.",
            "Wien ist die Hauptstadt|von ganz",
        ),
        ("fr", "Paris est la capitale de toute la France.", "Paris est la capitale de toute la"),
        ("fr", "Je vous le dirai quand il arrive.", "Je vous le dirai|quand il"),
        ("pl", "To jest bardzo ładne miasto na południu kraju.", "To jest bardzo ładne miasto na"),
        ("ja", "それはとても良い質問です。はい。", "それはとても良い質問です。"),
    ],
)
def test_phrases_of_languages(language: str, text: str, pieces: str) -> None:
    aggregator = FirstClauseAggregator(language=language)
    assert "|".join(asyncio.run(passed_on(aggregator, text))).startswith(pieces)


def test_each_answer_has_a_first_clause() -> None:
    aggregator = FirstClauseAggregator(language="en")

    async def answers() -> list[str]:
        first = await passed_on(aggregator, "Of course, I can.")
        async for _ in aggregator.aggregate("As you know, it"):
            pass
        await aggregator.handle_interruption()
        return first + await passed_on(aggregator, "In that case, I will.")

    assert asyncio.run(answers()) == ["Of course,", "I can.", "In that case,", "I will."]
