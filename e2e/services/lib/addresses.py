"""Does the address in a variable reach the service, and only then?

    python e2e/services/lib/addresses.py [FOLDER]        # FOLDER: templates/services

Run it with a Python that has every service's packages. It builds each service of the catalog as
bot.py does, and looks for addresses and paths in the object that comes out, through all that hangs
on it. With a variable set, its value is there. With all of them unset, the object holds what it
holds when the framework builds it without the arguments in question.

Nothing is connected. Models of one's own machine are not loaded: what stands in for a model keeps
what it was asked to load.

Exit code 0: so it is. 1: one line for each difference.
"""

import ast
import asyncio
import contextlib
import functools
import os
import re
import sys
import tempfile
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import aiohttp
import moonshine_voice.download_file
import pipecat.services.kokoro.tts as kokoro
import pipecat.services.moonshine.stt as moonshine
import pipecat.services.piper.tts as piper
import pipecat.services.whisper.stt as whisper
from azure.cognitiveservices.speech import PropertyId, SpeechConfig
from google.oauth2.service_account import Credentials
from loguru import logger

import catalog_arguments
import catalog_check
import hearing

KINDS = ("stt", "llm", "tts", "realtime", "video")
DEEP = 8  # attributes of attributes
OPAQUE = (type, types.ModuleType, MagicMock)

# Any text that could be an address or a path.
PLACE = re.compile(r"\w+://|/|[\w-]+(\.[\w-]+)+(:\d+)?(/|$)")


class Loaded:
    """In place of a model that was loaded."""

    voices = ["af_heart"]

    def __init__(self, *what: Any, **_: Any):
        self.what = what

    load = __init__

    def __new__(cls, *_: Any, **__: Any) -> "Loaded":
        return super().__new__(cls)


async def hang_up(params: Any) -> None:
    """End the call."""


def stand_in() -> None:
    """Load no model, download none, and ask nobody for a token."""
    for name in catalog_arguments.PLACEHOLDERS:
        sys.modules[name] = MagicMock()
    kokoro.Kokoro = whisper.WhisperModel = moonshine.Transcriber = Loaded
    kokoro._ensure_model_files = piper.download_voice = lambda *_, **__: None
    piper.PiperVoice = types.SimpleNamespace(load=Loaded)

    def cached(*_: object) -> tuple[str, object]:
        return str(moonshine_voice.download_file.get_cache_dir()), None

    moonshine.get_model_for_language = cached
    Credentials.refresh = lambda *_: None


def places(thing: object) -> dict[str, str]:
    """The addresses and paths in an object, by where they hang."""
    found: dict[str, str] = {}
    seen = set[int]()
    left = [("", thing)]
    while left:
        path, it = left.pop()
        if isinstance(it, Path) or type(it).__name__ == "URL":  # of httpx, httpx2, yarl
            it = str(it)
        if isinstance(it, str):
            if PLACE.match(it):
                found[path] = it
            continue
        if id(it) in seen or path.count(".") > DEEP or isinstance(it, OPAQUE):
            continue
        seen.add(id(it))
        match it:
            case dict():
                inner = {key: value for key, value in it.items() if isinstance(key, str)}
            case list() | tuple():
                inner = {str(number): value for number, value in enumerate(it)}
            case _:
                inner = dict(getattr(it, "__dict__", {}))
                for name in {n for c in type(it).__mro__ for n in getattr(c, "__slots__", ())}:
                    with contextlib.suppress(AttributeError):
                        inner[name] = getattr(it, name)
                if isinstance(it, functools.partial):
                    inner |= it.keywords
                if isinstance(it, SpeechConfig):  # of Azure, not in Python
                    inner["endpoint"] = it.get_property(PropertyId.SpeechServiceConnection_Endpoint)
        left += [(f"{path}.{name}", value) for name, value in inner.items()]
    return found


def of_network(entry: catalog_check.Entry) -> list[catalog_check.Variable]:
    """The variables that hold an address or a path, those that say who one is left out."""
    return [v for v in entry.variables if v.kind in ("url", "path") and "GOOGLE_APP" not in v.name]


def host(variable: catalog_check.Variable) -> str:
    return variable.name.lower().replace("_", "-") + ".example"


def value(variable: catalog_check.Variable) -> str:
    """A value of one's own, in the form of the default."""
    if variable.kind == "path":
        return f"/{host(variable)}"
    scheme, separator, _ = variable.default.rpartition("://")
    if variable.default and not separator:
        return f"{host(variable)}:7"
    return f"{scheme or 'wss'}://{host(variable)}:7/path"


class Service:
    """One file of the catalog."""

    def __init__(self, path: Path, account: str, session: aiohttp.ClientSession | None):
        self.path = path
        self.entry = catalog_check.read_entry(path)
        self.module = catalog_arguments.load(path)
        returns = self.entry.build.returns
        assert returns
        self.name = ast.unparse(returns)
        self.cls = vars(self.module)[self.name]
        self.known = {
            "system_instruction": "instruction",
            "language": "en",
            "session": session,
            "tools": [hang_up],
        }
        self.plain = {"GOOGLE_APPLICATION_CREDENTIALS": account}
        for v in self.entry.variables:
            if v.required:
                value = "us-east-1" if v.kind == "region" else "a-key"
                self.plain[v.name] = hearing.VALUES.get(v.name, value)
        # The arguments that come from a variable with an address.
        names = {v.name for v in of_network(self.entry) if not v.required}
        self.ours = {
            k
            for call in catalog_check.calls(self.entry.build)
            if catalog_check.dotted(call.func) == self.name
            for k, node in catalog_check.keywords(call).items()
            if any(isinstance(n, ast.Constant) and n.value in names for n in ast.walk(node))
        }

    def build(self, variables: dict[str, str], alone: bool = False) -> dict[str, str]:
        """The places in the service, as bot.py builds it, or as the framework does alone."""
        given: dict[str, Any] = {}

        class Recorded(self.cls):
            def __init__(this, **arguments: Any):
                given.update(arguments)
                super().__init__(**arguments)

        Recorded.__name__ = self.name
        with environment(self.plain | variables):
            setattr(self.module, self.name, Recorded)
            wanted = [a.arg for a in self.entry.build.args.args]
            service = self.module.build(**{name: self.known[name] for name in wanted})
            if alone:
                service = self.cls(**{k: v for k, v in given.items() if k not in self.ours})
        return places(service)

    def differences(self) -> Iterator[str]:
        variables = of_network(self.entry)
        alone = self.build({}, alone=True)
        unset = self.build({})
        for path in sorted(alone.keys() | unset.keys()):
            if alone.get(path) != unset.get(path):
                yield f"unset, {path} is {unset.get(path)}, not {alone.get(path)}"
        by_name = {v.name: v for v in variables}
        for v in variables:
            there = any(v.default in text for text in unset.values())
            if v.read_by_library and v.default and not there:
                yield f"{v.name}: unset, {v.default} is nowhere in it"
            held = self.build({v.name: value(v)}).values()
            if not any(host(v) in text for text in held):
                yield f"{v.name} does not reach it"
            if v.other:
                both = {v.name: value(v), v.other: value(by_name[v.other])}
                if any(host(by_name[v.other]) in text for text in self.build(both).values()):
                    yield f"{v.other} is used though {v.name} is set"


@contextlib.contextmanager
def environment(variables: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


async def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else catalog_check.CATALOG
    stand_in()
    logger.remove()
    wrong, count, addresses = [], 0, 0
    async with aiohttp.ClientSession() as session:
        with tempfile.TemporaryDirectory() as home:
            account = str(hearing.google_credentials(Path(home)))
            for path in sorted(p for kind in KINDS for p in folder.glob(f"{kind}/*.py")):
                service = Service(path, account, session)
                count, addresses = count + 1, addresses + len(of_network(service.entry))
                wrong += [f"{service.entry.where}: {line}" for line in service.differences()]
    for line in wrong:
        print(line)
    print(f"{count} services, {addresses} addresses and paths", file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
