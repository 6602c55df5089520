"""Runs bot.py on your own machine."""

import importlib
from collections.abc import Awaitable, Callable, Container, Iterable
from typing import Any

from pipecat.runner.types import RunnerArguments

from vbot import checks, records, settings


def run(
    bot: Callable[[RunnerArguments], Awaitable[None]],
    required: Iterable[settings.Requirement],
    transports: Container[str],
    *,
    load: Callable[[], None] | None = None,
    background: Iterable[Callable[[], None]] = (),
) -> None:
    """Run the framework's development runner, if everything that the bot needs is there.

    The arguments come first, so that --help needs nothing.

    Args:
        bot: The bot of bot.py.
        required: What must be right before the bot starts.
        transports: How people reach the bot.
        load: Loads models. No session starts before it has returned.
        background: Called once before, such as to start a thread that deletes old recordings.
    """
    from pipecat.runner.run import app, main

    from vbot import local

    def prepare() -> None:
        settings.require([*required, checks.problems, records.problems])
        for begin in background:
            begin()
        cancellable_bot = local.prepare(app, bot)
        records.start()  # once the log is set up
        if "asterisk" in transports:
            development: Any = importlib.import_module("vbot.asterisk.development")
            development.serve(app, cancellable_bot)
        if load:
            load()
        if "dialin" in transports or "call" in transports:
            daily: Any = importlib.import_module("vbot.daily")  # which such a bot has
            daily.guard(app, transports)
            if "call" in transports:
                daily.take_calls(app, cancellable_bot)

    main(local.Arguments(prepare, takes_asterisk="asterisk" in transports))
