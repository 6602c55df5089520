"""The Daily rooms of telephone calls: makes them, and deletes them when the calls have ended."""

import os
import time

import aiohttp
from loguru import logger
from pipecat.runner.daily import DailyRoomConfig, configure
from pipecat.transports.base_transport import BaseTransport
from pipecat.transports.daily.transport import DailyTransport
from pipecat.transports.daily.utils import (
    DailyRESTHelper,
    DailyRoomObject,
    DailyRoomParams,
    DailyRoomProperties,
    DailyRoomSipParams,
)

API = "https://api.daily.co/v1"
LASTS = 4 * 3600  # seconds until a room of a call that came in is gone
_kept = set[str]()  # addresses of rooms in which people go on without the bot


async def make_room(
    session: aiohttp.ClientSession, call_id: str, caller: str
) -> tuple[DailyRoomObject, str] | None:
    """Create the room of a call that comes in, and a token for it. Return None if it has a room.

    The room is named after the call, so Daily makes only one, whoever asks and how often.
    """
    api = DailyRESTHelper(daily_api_key=os.environ["DAILY_API_KEY"], aiohttp_session=session)
    properties = DailyRoomProperties(
        exp=time.time() + LASTS,
        eject_at_room_exp=True,
        sip=DailyRoomSipParams(display_name=caller),
        start_video_off=True,
    )
    try:
        room = await api.create_room(DailyRoomParams(name=f"call-{call_id}", properties=properties))
    except Exception as e:
        if "already exists" in str(e):
            return None
        raise
    try:
        return room, await api.get_token(room.url, LASTS)
    except BaseException:
        await api.delete_room_by_url(room.url)  # so that the call can be taken again
        raise


async def make_dialout_room(session: aiohttp.ClientSession, called: str) -> DailyRoomConfig:
    """Create the room of a call that the bot makes.

    Args:
        session: For the requests to Daily.
        called: Who is called, as the room shows it.
    """
    return await configure(session, sip_caller_phone=called, enable_dialout=True)


async def delete_room(room_url: str, key: str, api: str = API) -> None:
    """Delete the room of a call, so that nobody is left in it, unless keep_room was called."""
    if room_url in _kept:
        _kept.remove(room_url)
        return
    try:
        async with aiohttp.ClientSession() as session:
            daily = DailyRESTHelper(daily_api_key=key, daily_api_url=api, aiohttp_session=session)
            await daily.delete_room_by_url(room_url)
    except Exception as e:
        logger.error(f"The room of the call was not deleted: {e}")


def keep_room(transport: BaseTransport) -> None:
    """Do not delete the room of a call when the bot leaves: people go on without it."""
    if isinstance(transport, DailyTransport):
        _kept.add(transport.room_url)


async def transfer_at_daily(transport: DailyTransport, number: str) -> None:
    """Have Daily connect the call, and leave its room open. Raises RuntimeError."""
    _kept.add(transport.room_url)
    if error := await transport.sip_call_transfer({"toEndPoint": number}):
        _kept.remove(transport.room_url)
        raise RuntimeError(error)
