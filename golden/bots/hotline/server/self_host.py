"""Serves the bot on your own machines.

At most MAX_SESSIONS sessions run at a time, each for MAX_SESSION_SECONDS at most. After SIGTERM no
session starts. The program ends when the running ones have ended, at the latest after
DRAIN_SECONDS. deploy/README.md says how to run it.
"""

import bot
from sentences import SENTENCES
from vbot import hosting
from vbot.hosting import asterisk, carriers
from vbot.models import load_models

if __name__ == "__main__":
    hosting.serve(
        bot.bot,
        [
            *bot.REQUIRED,
            "PHONE_TOKEN",
            "ASTERISK_PASSWORD",
            carriers.problems,
        ],
        bot.TRANSPORTS,
        SENTENCES,
        routers=[
            asterisk.router,
            # your own, one per line
        ],
        max_sessions=1,  # unless MAX_SESSIONS is set
        load=lambda: load_models(bot.make_services),
    )
