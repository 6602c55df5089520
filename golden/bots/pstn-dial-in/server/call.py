"""Helpers of bot.py for calls and options."""

import contextlib
from typing import Any

import aiohttp
from fastapi import FastAPI, Request, Response
from loguru import logger
from pipecat.runner.types import DailyDialinRequest, DailyRunnerArguments, RunnerArguments
from pipecat.transports.base_transport import BaseTransport
from pipecat.transports.daily.transport import DailyTransport
from pipecat.transports.daily.utils import DailyRESTHelper
from pipecat.workers.runner import WorkerRunner

handed_over: set[str] = set()  # rooms in which people go on without the bot; see DEPLOY.md


def guard(app: FastAPI) -> None:
    """Let nobody make rooms or calls through the development runner."""

    @app.middleware("http")
    async def refuse(request: Request, call_next: Any) -> Any:
        path = request.scope["path"]
        asked: Any = {}
        with contextlib.suppress(ValueError):  # as the runner takes what is no JSON
            asked = await request.json() if path == "/start" else {}
        room = not isinstance(asked, dict) or asked.get("createDailyRoom")
        if room or asked.get("transport") == "daily" or path == "/daily":
            return Response("this bot makes rooms for calls alone", 401)
        return await call_next(request)


def handle_call(transport: BaseTransport, runner: WorkerRunner) -> None:
    """End the session if the call fails."""
    if isinstance(transport, DailyTransport):

        @transport.event_handler("on_dialin_error")
        async def on_dialin_error(transport: DailyTransport, data: Any) -> None:
            logger.error(f"The call failed: {data!r}")
            await runner.cancel()


async def end_call(runner_args: RunnerArguments) -> None:
    """Delete the room of a call, so that nobody is left in it."""
    body = runner_args.body
    dialed_in = isinstance(body, DailyDialinRequest) or "dialin_settings" in (body or {})
    if not isinstance(runner_args, DailyRunnerArguments) or not dialed_in:
        return
    room_url = runner_args.room_url
    if room_url in handed_over:
        handed_over.remove(room_url)
        return
    try:
        request = DailyDialinRequest.model_validate(body, from_attributes=True)
        key, api = request.daily_api_key, request.daily_api_url
        async with aiohttp.ClientSession() as session:
            daily = DailyRESTHelper(daily_api_key=key, daily_api_url=api, aiohttp_session=session)
            await daily.delete_room_by_url(room_url)
    except Exception as e:
        logger.error(f"The room of the call stays: {e}")
