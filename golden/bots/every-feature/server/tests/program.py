"""Runs a program of the bot for the tests, without a network: program.py SCRIPT [OPTIONS]

Connections to other machines are refused, so that no test costs anything.
HeyGen shows no face here: what the bot says is passed on.
"""

import os
import runpy
import sys
from typing import Any

from pipecat.frames.frames import Frame
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.heygen.video import HeyGenVideoService

import offline


class NoFace(FrameProcessor):
    """Replaces HeyGen: passes everything on."""

    Settings = HeyGenVideoService.Settings

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        await self.push_frame(frame, direction)


def replace(original: type, substitute: type) -> None:
    """Have bot.py import `substitute` where it imports `original`."""
    setattr(sys.modules[original.__module__], original.__name__, substitute)


replace(HeyGenVideoService, NoFace)
offline.start()
sys.path.insert(0, os.getcwd())
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
