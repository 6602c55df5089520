"""The stand-ins that generated projects have too: each protocol is there once.

    from templates.stand_ins.tts.cartesia import Cartesia

What is here says it aloud, and takes nothing that no test foresaw. It comes before such imports.
"""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import speech

_ROOT = Path(__file__).parents[2]
_FOLDER = _ROOT / "templates" / "stand_ins"
# They import each other by the names of their files. Last, as packages may have the same names.
sys.path += [str(_ROOT), str(_FOLDER), str(_FOLDER / "people")]

from stand_in import Listener, Reply, Script, Service, Unexpected, WebSocketService  # noqa: E402

__all__ = [
    "Aloud",
    "Bot",
    "Listener",
    "Phone",
    "Reply",
    "Script",
    "Service",
    "Unexpected",
    "WebSocketService",
]


class Aloud(Script):
    """eSpeak is its voice, and its ear finds the sentences that it is given, and no others."""

    def __init__(
        self,
        sentences: Iterable[str] = (),
        tempos: tuple[float, ...] = (1.0,),
        note: Callable[[str], object] = lambda text: None,
    ) -> None:
        super().__init__()
        self.sentences, self._tempos, self._note = list(sentences), tempos, note

    def heard(self, pcm: bytes, rate: int) -> str:
        text = " ".join(speech.hear(pcm, rate, self.sentences, self._tempos))
        self._note(text)
        return text

    def voice(self, text: str, rate: int) -> bytes:
        self.said.append(text)
        return speech.speak(text, rate)


# These import Script from this module.
from person import Bot  # noqa: E402
from phone import Phone  # noqa: E402
