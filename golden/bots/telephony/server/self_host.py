"""Serves the bot on your own machines.

At most MAX_SESSIONS sessions run at a time, each for MAX_SESSION_SECONDS at most. After SIGTERM no
session starts. The program ends when the running ones have ended, at the latest after
DRAIN_SECONDS. deploy/README.md says how to run it.
"""

import bot
import vbot
from sentences import SENTENCES
from vbot import hosting
from vbot.hosting import carriers, smallwebrtc, twilio

if __name__ == "__main__":
    hosting.serve(
        bot.bot,
        [
            *bot.REQUIRED,
            "PHONE_TOKEN",
            vbot.Needs("TURN_URL", if_set="TURN_SECRET"),
            carriers.problems,
            smallwebrtc.problems,
        ],
        bot.TRANSPORTS,
        SENTENCES,
        routers=[
            smallwebrtc.router,
            carriers.router,
            twilio.router,
            # your own, one per line
        ],
        starts={
            "webrtc": smallwebrtc.start,
        },
        starts_per_minute=6,  # unless STARTS_PER_MINUTE is set
        max_sessions=4,  # unless MAX_SESSIONS is set
    )
