"""What server.py tells bot.py about a call."""

from pydantic import BaseModel


class Call(BaseModel):
    """One telephone call, and the Daily room in which the bot takes part in it."""

    room_url: str
    token: str  # lets the bot into the room
    phone_number: str  # to be called, such as +15551234567
