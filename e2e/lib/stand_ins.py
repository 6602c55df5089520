"""The stand-ins that generated projects have, too, so that each protocol is implemented once.

    from vbot.testing.stand_ins.tts.cartesia import Cartesia

This module adds speech, and refuses requests that no test expects. Import it before the others.
"""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType

import speech

_SERVER = Path(__file__).resolve().parents[2] / "templates" / "server"


def _find(package: str) -> None:
    """Make the modules of the package importable, without its __init__.py: it needs Pipecat."""
    module = ModuleType(package)
    module.__path__ = [str(_SERVER / package.replace(".", "/"))]
    sys.modules[package] = module


_find("vbot")
_find("vbot.testing")

from vbot.testing.people.person import Bot  # noqa: E402
from vbot.testing.people.phone import Phone  # noqa: E402
from vbot.testing.stand_in import (  # noqa: E402
    Listener,
    Reply,
    Script,
    Service,
    Unexpected,
    WebSocketService,
)

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
