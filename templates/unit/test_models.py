"""vbot/models.py: sessions share the models of the services that the bot uses.

The services and their libraries are made up here.
"""

import asyncio
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import aiohttp
import pytest
from pipecat.processors.frame_processor import FrameProcessor

from vbot import downloads, models
from vbot.downloads import Missing

MOONSHINE, PIPER = "pipecat.services.moonshine.stt", "pipecat.services.piper.tts"


class Model:
    """A model that takes a moment, and notes whether two use it at the same time."""

    def __init__(self, *args: Any, **options: Any):
        self.args, self.options = args, options
        self.users = self.most_users = 0
        self.name = "a model"

    def transcribe_without_streaming(self, sound: str) -> str:
        self.users += 1
        self.most_users = max(self.most_users, self.users)
        time.sleep(0.02)
        self.users -= 1
        return f"heard {sound}"


class PiperVoice:
    @staticmethod
    def load(path: str) -> Model:
        return Model(path)


@pytest.fixture(autouse=True)
def no_services(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("pipecat.services.")]:
        if name.endswith((".stt", ".tts")) or name == models.OLLAMA:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(downloads, "FINDERS", {})


@pytest.fixture
def moonshine(monkeypatch: pytest.MonkeyPatch) -> Any:
    module: Any = ModuleType(MOONSHINE)
    module.Transcriber = Model
    monkeypatch.setitem(sys.modules, MOONSHINE, module)
    return module


@pytest.fixture
def piper(monkeypatch: pytest.MonkeyPatch) -> Any:
    module: Any = ModuleType(PIPER)
    module.PiperVoice = type("PiperVoice", (PiperVoice,), {})
    monkeypatch.setitem(sys.modules, PIPER, module)
    return module


def test_nothing_is_done_without_models() -> None:
    before = set(sys.modules)
    models.share_models()
    assert set(sys.modules) == before


def test_sessions_share_a_model(piper: Any) -> None:
    models.share_models()
    first = piper.PiperVoice.load("a.onnx")
    assert piper.PiperVoice.load("a.onnx") is first
    assert piper.PiperVoice.load("b.onnx") is not first


def test_one_session_at_a_time_uses_it(moonshine: Any) -> None:
    models.share_models()
    shared = moonshine.Transcriber("folder", 1)
    assert moonshine.Transcriber("folder", 1) is shared
    assert (shared.args, shared.options) == (
        ("folder", 1),
        {"options": {"vad_threshold": "0"}},
    )
    with ThreadPoolExecutor(4) as threads:
        heard = list(threads.map(shared.transcribe_without_streaming, "abcd"))
    assert heard == ["heard a", "heard b", "heard c", "heard d"]
    assert shared.most_users == 1 and shared.name == "a model"


class Ear(FrameProcessor):
    """A service that loads a model in its thread, and may fail."""

    problem: Exception | None = None
    made = 0

    class Settings:
        def __init__(self, **_: Any):
            pass

    def __init__(self, settings: Any = None):
        super().__init__()
        type(self).made += 1
        self.model = sys.modules[MOONSHINE].Transcriber("folder")  # type: ignore
        if self.problem:
            raise self.problem


class Voice(Ear):
    pass


@pytest.fixture
def services(moonshine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As bot.py has them, which a failure replaces."""
    for kind in (Ear, Voice):
        monkeypatch.setattr(kind, "problem", None)
        monkeypatch.setattr(kind, "made", 0)
        monkeypatch.setattr(sys.modules[__name__], kind.__name__, kind)


def make_services(system_instruction: str = "") -> Any:
    return Ear(Ear.Settings(model="tiny")), Voice()


def test_services_are_made_before_the_first_session(services: None) -> None:
    models.load_models(make_services)
    ear, voice = make_services("Be kind.")
    assert ear.model is voice.model
    assert Ear.made + Voice.made == 4


def test_a_service_may_be_the_only_one(services: None) -> None:
    models.load_models(lambda: Ear())
    assert Ear.made == 1


def test_services_may_take_a_session(services: None) -> None:
    taken = []

    def make_with(session: aiohttp.ClientSession, system_instruction: str = "") -> Any:
        taken.append((asyncio.get_running_loop(), session.closed))
        return Ear()

    models.load_models(make_with)
    assert [closed for _, closed in taken] == [False]


@pytest.mark.usefixtures("services")
def test_all_that_is_wrong_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ear, "problem", ValueError("no such model"))
    monkeypatch.setattr(Voice, "problem", Missing("/models lacks a voice, and a.host is silent."))
    with pytest.raises(SystemExit) as stopped:
        models.load_models(make_services)
    assert str(stopped.value).splitlines() == [
        "Ear cannot start: no such model",
        "Voice cannot start: /models lacks a voice, and a.host is silent.",
        "Without the internet, copy the folders above from a machine where the bot has started.",
    ]


@pytest.mark.parametrize("alone", [True, False])
def test_ollama_loads_its_model(
    services: None, alone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ollama, asked = ModuleType("vbot.ollama"), []

    async def prepare(service: Any) -> list[str]:
        asked.append(type(service))
        return ["Start Ollama."] if isinstance(service, Voice) else []

    vars(ollama)["prepare"] = prepare
    monkeypatch.setitem(sys.modules, models.OLLAMA, ModuleType(models.OLLAMA))
    monkeypatch.setattr(models, "optional", {"vbot.ollama": ollama}.get)
    with pytest.raises(SystemExit, match="^Start Ollama.$"):
        models.load_models(Voice if alone else make_services)
    assert asked == ([Voice] if alone else [Ear, Voice])


@pytest.mark.usefixtures("services")
def test_an_error_of_no_service_is_said_too() -> None:
    def make_nothing() -> Any:
        raise KeyError("VOICE")

    with pytest.raises(SystemExit, match="A service cannot start: 'VOICE'"):
        models.load_models(make_nothing)


def test_it_works_in_another_thread(services: None) -> None:
    """As in self_host.py, which serves meanwhile."""
    thread = threading.Thread(target=models.load_models, args=[make_services])
    thread.start()
    thread.join(10)
    assert Ear.made == Voice.made == 1
