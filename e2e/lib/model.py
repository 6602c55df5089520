"""A stand-in of a language model for evals: what it says depends on the messages that it gets.

It follows and answers everything said since it last spoke. Questions about the conversation it
answers from the messages. It formats its text, as models do, unless it is told not to.
"""

from typing import Any

from conversation import ANSWER, GREETING, QUESTION
from services import OpenAI, text_of

WHICH = "Which country did I ask about?"
HELP, TELL, ASK = "What can you help me with?", "My name is Alex.", "What is my name?"
# What it says when all is well.
ANSWERS = {
    QUESTION: ANSWER,
    WHICH: "You asked about France.",
    HELP: "I can answer questions.",
    TELL: "Nice to meet you, Alex.",
    ASK: "You are called Alex.",
}
FORGOTTEN = "That I do not know yet."
FORMATTED = "I can help you:\n\n- **answer** questions\n- **plan** your day"


class Model(OpenAI):
    """Knows the answers above."""

    def __init__(self, key: str):
        super().__init__(key, GREETING, ANSWERS)

    def answer_to(self, messages: list[dict[str, Any]]) -> str:
        spoke = [n for n, message in enumerate(messages) if message["role"] == "assistant"]
        said: list[str] = []
        for n in range(spoke[-1] + 1 if spoke else 0, len(messages)):
            if messages[n]["role"] == "developer":
                said.append(GREETING)
            elif messages[n]["role"] == "user":
                said.append(self._answer(text_of(messages[n]), messages[:n]))
        return " ".join(said)

    def _answer(self, asked: str, before: list[dict[str, Any]]) -> str:
        self.expect(asked in self.answers, f"no answer to {asked!r}")
        needed = {WHICH: QUESTION, ASK: TELL}.get(asked)
        if needed and not any(text_of(message) == needed for message in before):
            return FORGOTTEN
        instruction = " ".join(text_of(m) for m in before if m["role"] == "system")
        if asked == HELP and "without lists" not in instruction:
            return FORMATTED
        return ANSWERS[asked]


class DeadModel(OpenAI):
    """Answers everything with an empty text, as some models do when they are overloaded."""

    def __init__(self, key: str):
        super().__init__(key, "", {})

    def answer_to(self, messages: list[dict[str, Any]]) -> str:
        return ""
