"""Sessions of pages over Daily."""

import asyncio
from typing import Any

import aiohttp
from pipecat.runner.daily import configure
from pipecat.runner.types import DailyRunnerArguments

from vbot.hosting.sessions import START_TIMEOUT, Session, Sessions


async def start(sessions: Sessions, session: Session) -> dict[str, Any]:
    """The session starts, in a room of its own."""
    sessions.find(session.id)  # so that it does not expire while Daily makes the room
    async with asyncio.timeout(START_TIMEOUT - 2), aiohttp.ClientSession() as http:
        url, token = await configure(http, room_exp_duration=4)  # hours
    arguments = DailyRunnerArguments(
        room_url=url, token=token, body=session.body, session_id=session.id
    )
    sessions.start(session, arguments)
    return {"dailyRoom": url, "dailyToken": token}
