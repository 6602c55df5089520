"""What server.py tells bot.py about a call."""

from pydantic import BaseModel


class Call(BaseModel):
    """One telephone call, and the Daily room in which the bot takes part in it."""

    room_url: str
    token: str  # lets the bot into the room
    sip_uri: str  # where the room takes the call
    call_sid: str  # of the call that waits at Twilio
