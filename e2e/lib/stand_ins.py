"""The stand-ins that generated projects have, too, so that each protocol is implemented once.

    from templates.stand_ins.tts.cartesia import Cartesia

This module adds speech, and refuses requests that no test expects. Import it before the others.
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
    """Speaks with eSpeak, and hears only the sentences that it is given."""

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
