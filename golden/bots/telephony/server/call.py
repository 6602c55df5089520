"""Helpers of bot.py for calls and options."""

import os
from typing import Any

import aiohttp
from pipecat.frames.frames import EndWorkerFrame, TTSSpeakFrame
from pipecat.services.llm_service import FunctionCallParams


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
    where = [os.getenv("TWILIO_EDGE"), os.getenv("TWILIO_REGION"), "twilio.com"]
    host = ".".join(["api", *filter(None, where)])
    url = f"https://{host}/2010-04-01/Accounts/{account}/Calls/{call_sid}.json"
    await post(url, auth=login, data={"Twiml": f"<Response>{twiml}</Response>"})


async def hang_up(params: FunctionCallParams, goodbye: str):
    """End the call when the person wants to, with a goodbye that is spoken. Say nothing else."""
    await params.llm.push_frame(TTSSpeakFrame(goodbye))
    await params.llm.push_frame(EndWorkerFrame())  # after the speech that is still queued
