"""Calls of an Asterisk, whose WebSocket channel (chan_websocket) connects each call to the bot.

DEPLOY.md has the configuration of Asterisk. https://docs.asterisk.org has the protocol under
"WebSocket Channel Driver". Checked with Asterisk's chan_websocket of August 2026.
"""

from vbot.asterisk.access import check, check_address
from vbot.asterisk.calls import arguments_of, leave_to_dialplan
from vbot.asterisk.dialout import router as dialout
from vbot.asterisk.transport import create_transport

__all__ = [
    "arguments_of",
    "check",
    "check_address",
    "create_transport",
    "dialout",
    "leave_to_dialplan",
]
