"""The data about a call that server.py passes to bot.py."""

from pydantic import BaseModel


class Call(BaseModel):
    """A telephone call and the Daily room in which the bot joins it."""

    room_url: str
    token: str  # the bot needs it to join
    sip_uri: str  # to call, such as sip:alice@example.com
