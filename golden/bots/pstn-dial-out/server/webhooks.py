"""Starts outgoing calls.

Run it with `uv run webhooks.py`, while bot.py runs, and request a call:

    curl -X POST http://localhost:8080/dialout -H "Authorization: Bearer $SERVER_API_KEY" \
        -H "Content-Type: application/json" -d '{"phone_number": "+15551234567"}'
"""

import vbot
from vbot import webhooks
from vbot.webhooks import dialout

if __name__ == "__main__":
    webhooks.serve(
        dialout.to_telephones,
        [
            "DAILY_API_KEY",
            "SERVER_API_KEY",
            vbot.Needs("PIPECAT_API_KEY", if_set="PIPECAT_AGENT_NAME"),
        ],
    )
