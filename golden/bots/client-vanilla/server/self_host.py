"""Serves the bot on your own machines.

At most MAX_SESSIONS sessions run at a time, each for MAX_SESSION_SECONDS at most. After SIGTERM no
session starts. The program ends when the running ones have ended, at the latest after
DRAIN_SECONDS. deploy/README.md says how to run it.
"""

import bot
from sentences import SENTENCES
from vbot import hosting
from vbot.hosting import livekit

if __name__ == "__main__":
    hosting.serve(
        bot.bot,
        [
            *bot.REQUIRED,
        ],
        bot.TRANSPORTS,
        SENTENCES,
        routers=[
            # your own, one per line
        ],
        starts={
            "livekit": livekit.start,
        },
        starts_per_minute=10,  # unless STARTS_PER_MINUTE is set
        max_sessions=8,  # unless MAX_SESSIONS is set
    )
