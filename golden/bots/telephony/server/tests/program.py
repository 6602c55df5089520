"""Runs a program of the bot for the tests, without a network: program.py SCRIPT [OPTIONS]

Connections to other machines are refused, so that no test costs anything.
"""

import os
import runpy
import sys
from typing import Any

from pipecat.serializers.twilio import TwilioFrameSerializer

import offline


class QuietTwilioFrameSerializer(TwilioFrameSerializer):
    """Does not ask the carrier to end a call, which ends with its connection."""

    def __init__(self, *args: Any, **options: Any) -> None:
        params = TwilioFrameSerializer.InputParams(auto_hang_up=False)
        super().__init__(*args, **options, params=params)


def replace(original: type, substitute: type) -> None:
    """Have bot.py import `substitute` where it imports `original`."""
    setattr(sys.modules[original.__module__], original.__name__, substitute)


replace(TwilioFrameSerializer, QuietTwilioFrameSerializer)
offline.start()
sys.path.insert(0, os.getcwd())
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
