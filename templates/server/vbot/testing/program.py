"""Runs a program of the bot for the tests, without a network: SCRIPT [OPTIONS]

Connections to other machines are refused, so that no test costs anything. If no variable points a
service of the framework at its stand-in, another class takes its place; see `Role`.
"""

import hashlib
import importlib
import importlib.util
import json
import os
import runpy
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pipecat.frames.frames import Frame
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.serializers.plivo import PlivoFrameSerializer
from pipecat.serializers.telnyx import TelnyxFrameSerializer
from pipecat.serializers.twilio import TwilioFrameSerializer

from vbot import settings
from vbot.testing import Role, carriers, offline, values
from vbot.testing.clock import tell_time_of_test


class NoFace(FrameProcessor):
    """Takes an avatar's place: passes everything on."""

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        await self.push_frame(frame, direction)


def replace(original: type, substitute: type) -> None:
    """Have whoever imports `original` from now on import `substitute`."""
    setattr(sys.modules[original.__module__], original.__name__, substitute)


def quiet(serializer: Any) -> type:
    """Return a serializer that asks no carrier to end a call, which ends with its connection."""

    class Quiet(serializer):
        def __init__(self, *args: Any, **options: Any) -> None:
            params = serializer.InputParams(auto_hang_up=False)
            super().__init__(*args, **options | {"params": params})

    return Quiet


def substitute_of(original: Any, role: Role, address: str) -> type:
    """Return a class that makes a service that talks with the stand-in."""

    class Substitute(original):  # has its attributes, such as Settings
        def __new__(cls, *args: Any, **options: Any) -> Any:
            if not role.stand_in:
                return NoFace()
            given = options.get("settings") or options.get("params")
            instruction = getattr(given, "system_instruction", "")
            told = instruction or getattr(given, "system_prompt", "")
            return role.stand_in.client(address, told or "")

    return Substitute


def require(required: Iterable[settings.Requirement], transports: Iterable[str] = ()) -> None:
    """Do what vbot.settings does, with values for what is required and missing."""
    required = list(required)
    os.environ.update(values.of(required))
    actual_require(required, transports)


actual_require = settings.require


def add_example() -> None:
    """Give the bot the tool of appointments.py, as long as nobody uses that example.

    Once its text or its variables are the owner's, the bot has it only if TOOLS does.
    """
    import agent

    file, record = Path("appointments.py"), Path("../.vbot.json")
    required = {name for need in agent.REQUIRED for name in getattr(need, "names", [need])}
    if not file.exists() or not record.exists() or "APPOINTMENTS_API_URL" in required:
        return
    written = json.loads(record.read_text(encoding="utf-8"))["files"].get("server/appointments.py")
    text = file.read_bytes().replace(b"\r\n", b"\n")
    tool: Any = getattr(importlib.import_module("appointments"), "book_appointment", None)
    if hashlib.sha256(text).hexdigest() == written and tool not in agent.TOOLS:
        agent.TOOLS.append(tool)


def main() -> None:
    sys.path.append(os.path.abspath("tests"))
    import cast

    offline.start()
    tell_time_of_test()
    if address := os.getenv(carriers.VARIABLE):
        carriers.ask_here(address)
    settings.require = require
    settings.TO_SET = values.GIVE
    add_example()
    for serializer in (PlivoFrameSerializer, TelnyxFrameSerializer, TwilioFrameSerializer):
        replace(serializer, quiet(serializer))
    for name, role in cast.SERVICES.items():
        if original := role.instead_of:
            address = os.getenv(role.variable(name), "")
            replace(original, substitute_of(original, role, address))
    if importlib.util.find_spec("vbot.google"):  # tests have no account
        vars(importlib.import_module("vbot.google"))["problems"] = list
    if importlib.util.find_spec("vbot.recording"):  # recordings of stand-ins are not the owner's
        folder = Path(os.environ["RECORDINGS_OF_TESTS"])
        vars(importlib.import_module("vbot.recording"))["FOLDER"] = folder
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
