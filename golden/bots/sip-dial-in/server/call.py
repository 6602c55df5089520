"""Helpers of bot.py for calls and options."""

import hmac
import os
import time
from typing import Any
from xml.sax.saxutils import escape

import aiohttp
from fastapi import FastAPI, HTTPException, Request, Response
from loguru import logger
from pipecat.frames.frames import EndWorkerFrame
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.runner.types import RunnerArguments
from pipecat.services.llm_service import FunctionCallParams
from pipecat.transports.base_transport import BaseTransport
from pipecat.transports.daily.transport import DailyParams, DailyTransport
from pipecat.transports.daily.utils import DailyRESTHelper
from pipecat.workers.runner import WorkerRunner
from pydantic import BaseModel, Field

handed_over: set[str] = set()  # rooms in which people go on without the bot; see DEPLOY.md


class Call(BaseModel):
    """A telephone call and the Daily room in which the bot joins it."""

    room_url: str = Field(pattern=r"^https://[A-Za-z0-9-]+\.daily\.co/[A-Za-z0-9_-]+$")
    token: str  # the bot needs it to join
    sip_uri: str  # of the room
    call_sid: str  # of the call waiting at Twilio
    caller: str  # the caller's number

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
        params = DailyParams(audio_in_enabled=True, audio_out_enabled=True)
        return DailyTransport(
            self.room_url,
            self.token,
            "sip-dial-in",
            params=params,
        )

    def handle(self, transport: BaseTransport, runner: WorkerRunner) -> None:
        """Fetch the call once the room can take it. End the session if that fails."""

        @transport.event_handler("on_dialin_ready")
        async def on_dialin_ready(transport: DailyTransport, sip_endpoint: str) -> None:
            logger.debug(f"Fetching call {self.call_sid!r} of {self.caller!r} from Twilio")
            try:
                to = f"<Dial><Sip>{escape(self.sip_uri)}</Sip></Dial>"
                await update_at_twilio(self.call_sid, to)
            except Exception as e:
                logger.error(f"Twilio did not hand the call over: {e}")
                await runner.cancel()

        handle_call(transport, runner)


async def post(url: str, **request: Any) -> None:
    """Send a request to a carrier's API. Raises RuntimeError with its response if that fails."""
    timeout = aiohttp.ClientTimeout(total=10)  # seconds
    async with aiohttp.ClientSession(timeout=timeout) as session:
        async with session.post(url, **request) as response:
            if response.status >= 400:
                raise RuntimeError(f"{response.status} {(await response.text())[:500]}")


async def update_at_twilio(call_sid: str, twiml: str) -> None:
    """Continue a call with this TwiML, which ends its stream to the bot.

    https://www.twilio.com/docs/voice/api/call-resource#update-a-call-resource
    """
    account = os.environ["TWILIO_ACCOUNT_SID"]
    if key := os.getenv("TWILIO_API_KEY"):
        login = aiohttp.BasicAuth(key, os.environ["TWILIO_API_SECRET"])
    else:
        login = aiohttp.BasicAuth(account, os.environ["TWILIO_AUTH_TOKEN"])
    host = "api.twilio.com"
    url = f"https://{host}/2010-04-01/Accounts/{account}/Calls/{call_sid}.json"
    await post(url, auth=login, data={"Twiml": f"<Response>{twiml}</Response>"})


def guard(app: FastAPI) -> None:
    """Let nobody make rooms or calls through the development runner, except webhooks.py."""

    @app.middleware("http")
    async def refuse(request: Request, call_next: Any) -> Any:
        path = request.scope["path"]
        if path not in ("/call", "/status"):
            return Response("this bot takes only calls from webhooks.py", 404)
        return await call_next(request)


def handle_call(transport: BaseTransport, runner: WorkerRunner) -> None:
    """End the session if the call fails."""
    if isinstance(transport, DailyTransport):

        @transport.event_handler("on_dialin_error")
        async def on_dialin_error(transport: DailyTransport, data: Any) -> None:
            logger.error(f"The call failed: {data!r}")
            await runner.cancel()


async def end_call(call: Call) -> None:
    """Delete the room of a call, so that nobody is left in it."""
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


async def hang_up(params: FunctionCallParams):
    """End the call when the person wants to and you have said goodbye."""
    await params.llm.push_frame(EndWorkerFrame())  # after the speech that is still queued


def log_transcript(runner_args: RunnerArguments, user: FrameProcessor, bot: FrameProcessor) -> None:
    """Log what both sides say."""
    session = runner_args.session_id

    @user.event_handler("on_user_turn_message_added")
    async def on_user_turn_message_added(aggregator, message):
        logger.info(f"Transcript {session}: user: {message.content!r}")

    @bot.event_handler("on_assistant_turn_stopped")
    async def on_assistant_turn_stopped(aggregator, message):
        logger.info(f"Transcript {session}: bot: {message.content!r}")
