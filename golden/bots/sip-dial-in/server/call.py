"""Helpers of bot.py for calls and options."""

import asyncio
import os
import wave
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import aiohttp
from loguru import logger
from pipecat.processors.audio.audio_buffer_processor import AudioBufferProcessor
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.runner.types import RunnerArguments
from pipecat.transports.base_transport import BaseTransport
from pipecat.transports.daily.transport import DailyParams, DailyTransport
from pipecat.transports.daily.utils import DailyRESTHelper
from pipecat.workers.runner import WorkerRunner
from pydantic import BaseModel
from twilio.rest import Client


class Call(BaseModel):
    """A telephone call and the Daily room in which the bot joins it."""

    room_url: str
    token: str  # the bot needs it to join
    sip_uri: str  # of the room
    call_sid: str  # of the call waiting at Twilio
    caller: str  # the caller's number

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
            logger.info(f"Fetching call {self.call_sid} of {self.caller} from Twilio")
            try:
                await asyncio.to_thread(self._fetch)
            except Exception as e:
                logger.error(f"Twilio did not hand the call over: {e}")
                await runner.cancel()

        handle_call(transport, runner)

    def _fetch(self) -> None:
        """Have Twilio connect the waiting call to the room. Blocks until Twilio answers."""
        account = os.environ["TWILIO_ACCOUNT_SID"]
        if key := os.getenv("TWILIO_API_KEY"):
            client = Client(key, os.environ["TWILIO_API_SECRET"], account)
        else:
            client = Client(account, os.environ["TWILIO_AUTH_TOKEN"])
        client.calls(self.call_sid).update(
            twiml=f"<Response><Dial><Sip>{escape(self.sip_uri)}</Sip></Dial></Response>"
        )


def handle_call(transport: BaseTransport, runner: WorkerRunner) -> None:
    """End the session if the call fails."""
    if isinstance(transport, DailyTransport):

        @transport.event_handler("on_dialin_error")
        async def on_dialin_error(transport: DailyTransport, data: Any) -> None:
            logger.error(f"The call failed: {data}")
            await runner.cancel()


async def end_call(call: Call) -> None:
    """Delete the room of a call, so that nobody is left in it."""
    room_url = call.room_url
    try:
        key, api = os.environ["DAILY_API_KEY"], "https://api.daily.co/v1"
        async with aiohttp.ClientSession() as session:
            daily = DailyRESTHelper(daily_api_key=key, daily_api_url=api, aiohttp_session=session)
            await daily.delete_room_by_url(room_url)
    except Exception as e:
        logger.error(f"The room of the call stays: {e}")


def log_transcript(runner_args: RunnerArguments, user: FrameProcessor, bot: FrameProcessor) -> None:
    """Log what both sides say."""
    session = runner_args.session_id

    @user.event_handler("on_user_turn_message_added")
    async def on_user_turn_message_added(aggregator, message):
        logger.info(f"Transcript {session}: user: {message.content}")

    @bot.event_handler("on_assistant_turn_stopped")
    async def on_assistant_turn_stopped(aggregator, message):
        logger.info(f"Transcript {session}: bot: {message.content}")


def record(runner_args: RunnerArguments, audio_buffer: AudioBufferProcessor) -> None:
    """Write what both sides say to a WAV file in recordings/, when the call ends."""

    def save(audio: bytes, sample_rate: int, num_channels: int) -> None:
        name = f"{datetime.now():%Y%m%d-%H%M%S-%f}-{runner_args.session_id}.wav"
        path = Path("recordings") / name
        path.parent.mkdir(exist_ok=True)
        with wave.open(str(path), "wb") as wav:
            wav.setnchannels(num_channels)
            wav.setsampwidth(2)  # bytes
            wav.setframerate(sample_rate)
            wav.writeframes(audio)
        logger.info(f"Recording: {path}")

    @audio_buffer.event_handler("on_audio_data")
    async def on_audio_data(buffer, audio: bytes, sample_rate: int, num_channels: int):
        if audio:
            await asyncio.to_thread(save, audio, sample_rate, num_channels)
