"""Telephone calls over Daily, by PSTN or SIP.

Daily announces calls that come in over PSTN. All others are started by webhooks.py, which makes a
room for each, and signs what it tells the bot.
"""

from vbot.daily.calls import (
    Call,
    DialinCall,
    PhoneNumber,
    PstnDialout,
    SipDialout,
    SipUri,
    TwilioSipDialin,
    Values,
    room_of,
)
from vbot.daily.development import guard, take_calls
from vbot.daily.rooms import API, delete_room, keep_room, make_dialout_room, make_room

__all__ = [
    "API",
    "Call",
    "DialinCall",
    "PhoneNumber",
    "PstnDialout",
    "SipDialout",
    "SipUri",
    "TwilioSipDialin",
    "Values",
    "delete_room",
    "guard",
    "keep_room",
    "make_dialout_room",
    "make_room",
    "room_of",
    "take_calls",
]
