"""Helpers of bot.py for calls and options."""

import os
from typing import Any

import aiohttp
from loguru import logger
from pipecat.transports.base_transport import BaseTransport
from pipecat.transports.daily.transport import DailyParams, DailyTransport
from pipecat.transports.daily.utils import DailyRESTHelper
from pipecat.workers.runner import WorkerRunner
from pydantic import BaseModel

MAX_ATTEMPTS = 3  # to reach the person
handed_over: set[str] = set()  # rooms in which people go on without the bot; see DEPLOY.md


class Call(BaseModel):
    """A telephone call and the Daily room in which the bot joins it."""

    room_url: str
    token: str  # the bot needs it to join
    phone_number: str  # to call, such as +15551234567

    def transport(self) -> DailyTransport:
        """Return the transport that joins the room."""
        params = DailyParams(
            api_key=os.environ["DAILY_API_KEY"], audio_in_enabled=True, audio_out_enabled=True
        )
        return DailyTransport(
            self.room_url,
            self.token,
            "pstn-dial-out",
            params=params,
        )

    def handle(self, transport: BaseTransport, runner: WorkerRunner) -> None:
        """Call the person once the bot is in the room. End the session if nobody can be reached."""
        assert isinstance(transport, DailyTransport)
        attempts = 0

        async def dial() -> None:
            nonlocal attempts
            attempts += 1
            logger.debug(f"Calling {self.phone_number!r}, attempt {attempts}")
            _, error = await transport.start_dialout({"phoneNumber": self.phone_number})
            if error:
                logger.error(f"The call cannot be started: {error!r}")
                await runner.cancel()

        @transport.event_handler("on_joined")
        async def on_joined(transport: DailyTransport, data: Any) -> None:
            await dial()

        @transport.event_handler("on_dialout_answered")
        async def on_dialout_answered(transport: DailyTransport, data: Any) -> None:
            logger.info("Answered")

        @transport.event_handler("on_dialout_error")
        async def on_dialout_error(transport: DailyTransport, data: Any) -> None:
            logger.warning(f"The call failed: {data!r}")
            if attempts < MAX_ATTEMPTS:
                await dial()
            else:
                await runner.cancel()


async def end_call(call: Call | None) -> None:
    """Delete the room of a call, so that nobody is left in it."""
    if not call:
        return
    room_url = call.room_url
    if room_url in handed_over:
        handed_over.remove(room_url)
        return
    try:
        key, api = os.environ["DAILY_API_KEY"], "https://api.daily.co/v1"
        async with aiohttp.ClientSession() as session:
            daily = DailyRESTHelper(daily_api_key=key, daily_api_url=api, aiohttp_session=session)
            await daily.delete_room_by_url(room_url)
    except Exception as e:
        logger.error(f"The room of the call stays: {e}")
