"""Helpers of bot.py for calls and options."""

import contextlib
import hmac
import os
import time
from typing import Annotated, Any

import aiohttp
from fastapi import FastAPI, HTTPException, Request, Response
from loguru import logger
from pipecat.frames.frames import EndWorkerFrame, TTSSpeakFrame
from pipecat.services.llm_service import FunctionCallParams
from pipecat.transports.base_transport import BaseTransport
from pipecat.transports.daily.transport import DailyParams, DailyTransport
from pipecat.transports.daily.utils import DailyRESTHelper
from pipecat.workers.runner import WorkerRunner
from pydantic import BaseModel, Field

MAX_ATTEMPTS = 3  # to reach the person
handed_over: set[str] = set()  # rooms in which people go on without the bot; see DEPLOY.md
Values = dict[str, str | int | float | bool]  # by their names
PhoneNumber = Annotated[str, Field(pattern=r"^\+[1-9][0-9]{6,14}$")]  # such as +15551234567


class Call(BaseModel):
    """A telephone call and the Daily room in which the bot joins it."""

    room_url: str = Field(pattern=r"^https://[A-Za-z0-9-]+\.daily\.co/[A-Za-z0-9_-]+$")
    token: str  # the bot needs it to join
    phone_number: PhoneNumber  # to call
    data: Values = {}  # that came with the request

    until: int = 0  # Unix time, from which on the bot refuses it
    signature: str = ""

    def signed(self) -> dict[str, Any]:
        """Return it with a signature that the bot accepts for a minute."""
        self.until = int(time.time()) + 60
        self.signature = self._sign()
        return self.model_dump()

    def _sign(self) -> str:
        """Sign with a key that webhooks.py and the bot have, and nobody else."""
        text = self.model_dump_json(exclude={"signature"})
        return hmac.new(os.environ["DAILY_API_KEY"].encode(), text.encode(), "sha256").hexdigest()

    @classmethod
    def authentic(cls, body: Any) -> "Call":
        """Return the call that webhooks.py signed. Raises HTTPException 401 for any other."""
        try:
            call = cls.model_validate(body)
            if hmac.compare_digest(call.signature.encode(), call._sign().encode()):
                if call.until > time.time():
                    return call
        except ValueError:
            pass
        raise HTTPException(401, "webhooks.py did not sign this call within the last minute")

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
            logger.info("The call was answered")

        @transport.event_handler("on_dialout_error")
        async def on_dialout_error(transport: DailyTransport, data: Any) -> None:
            logger.warning(f"The call failed: {data!r}")
            if attempts < MAX_ATTEMPTS:
                await dial()
            else:
                await runner.cancel()


def guard(app: FastAPI) -> None:
    """Let nobody make rooms or calls through the development runner, except webhooks.py."""

    @app.middleware("http")
    async def refuse(request: Request, call_next: Any) -> Any:
        path = request.scope["path"]
        asked: Any = {}
        with contextlib.suppress(ValueError):  # the runner accepts bodies that are not JSON
            asked = await request.json() if path == "/start" else {}
        room = not isinstance(asked, dict) or asked.get("createDailyRoom")
        if room or asked.get("transport") == "daily" or path == "/daily":
            return Response("this bot makes rooms only for calls", 401)
        if path == "/daily-dialin-webhook":
            return Response("this bot takes only calls from webhooks.py", 404)
        return await call_next(request)


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
        logger.error(f"The room of the call was not deleted: {e}")


async def hang_up(params: FunctionCallParams, goodbye: str):
    """End the call when the person wants to, with a goodbye that is spoken. Say nothing else."""
    await params.llm.push_frame(TTSSpeakFrame(goodbye))
    await params.llm.push_frame(EndWorkerFrame())  # after the speech that is still queued
