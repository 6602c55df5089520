"""Serves the bot on your own machines: self_host.py runs it, deploy/README.md explains it."""

import os
from collections.abc import Callable, Collection, Iterable, Mapping

from fastapi import APIRouter

from vbot import checks, records, settings
from vbot.hosting import metrics, runtime
from vbot.hosting import starts as post_start
from vbot.hosting.app import Hosting, Start, new_app
from vbot.hosting.sessions import Bot, Sessions
from vbot.sentences import Sentences

__all__ = ["serve"]


def serve(
    bot: Bot,
    required: Iterable[settings.Requirement],
    transports: Collection[str],
    sentences: Sentences,
    *,
    routers: Iterable[APIRouter] = (),
    starts: Mapping[str, Start] | None = None,
    max_sessions: int,
    starts_per_minute: int = 10,
    load: Callable[[], None] | None = None,
    background: Iterable[Callable[[], None]] = (),
) -> None:
    """Serve sessions until SIGTERM, and then until the running ones have ended.

    Args:
        bot: The bot of bot.py.
        required: What must be right before the bot starts.
        transports: How people reach the bot: TRANSPORTS of bot.py.
        sentences: What a carrier says if the bot takes no call.
        routers: Take the requests for sessions.
        starts: How pages start sessions with POST /start, by the words for transports. A request
            that names none gets the first.
        max_sessions: How many sessions run at a time, unless MAX_SESSIONS is set.
        starts_per_minute: How many sessions one address may start, unless STARTS_PER_MINUTE is set.
        load: Loads models. No session starts before it has returned.
        background: Called once before, such as to start a thread that deletes old recordings.
    """
    runtime.set_up_logs()
    settings.require([*required, checks.problems, records.problems], transports)
    records.start()
    sessions = Sessions(
        bot,
        capacity=int(os.getenv("MAX_SESSIONS", max_sessions)),
        per_minute=int(os.getenv("STARTS_PER_MINUTE", starts_per_minute)),
        per_address=int(os.getenv("MAX_SESSIONS_PER_ADDRESS", 0)),
        listener=metrics.Metrics(),
    )
    metrics.show(sessions)
    hosting = Hosting(sessions, transports, starts or {}, sentences)
    if starts:
        routers = [*routers, post_start.router]
    for begin in background:
        begin()
    runtime.run(new_app(hosting, routers), sessions, load)
    records.stop()
