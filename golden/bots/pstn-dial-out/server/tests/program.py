"""Runs a program of the bot for the tests, without a network: program.py SCRIPT [OPTIONS]

Connections to other machines are refused, so that no test costs anything.
"""

import os
import runpy
import sys

import offline


def replace(original: type, substitute: type) -> None:
    """Have bot.py import `substitute` where it imports `original`."""
    setattr(sys.modules[original.__module__], original.__name__, substitute)


offline.start()
sys.path.insert(0, os.getcwd())
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
