"""Answers calls from Twilio and starts the bot for each.

Run it with `uv run webhooks.py`, while bot.py runs. Twilio announces a call at POST /call. The
server creates a Daily room, starts the bot there, and holds the caller until the bot fetches the
call.
"""

import vbot
from sentences import SENTENCES
from vbot import webhooks
from vbot.webhooks import twilio

if __name__ == "__main__":
    webhooks.serve(
        twilio.answering(SENTENCES),
        [
            "DAILY_API_KEY",
            "TWILIO_ACCOUNT_SID",
            "TWILIO_AUTH_TOKEN",
            vbot.Needs("PIPECAT_API_KEY", if_set="PIPECAT_AGENT_NAME"),
        ],
    )
