"""Runs a bot whose models take a minute to download: slow_models.py SCRIPT [OPTIONS]

It runs with the bot's own Python, in the folder of bot.py.
"""

import asyncio
import importlib
import os
import runpy
import sys
import time
from typing import Any

sys.path.insert(0, os.getcwd())


def load(make_services: Any) -> None:
    print("LOADING", flush=True)
    asyncio.run(asyncio.to_thread(time.sleep, 60))  # libraries download in threads


vars(importlib.import_module("models"))["load"] = load
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
