"""Takes Asterisk's calls with bot.py, on your own machine."""

import argparse
import uuid
from collections.abc import Awaitable, Callable

from fastapi import FastAPI, HTTPException, WebSocket
from pipecat.runner import run as runner
from pipecat.runner.types import RunnerArguments
from starlette.responses import PlainTextResponse

from vbot import asterisk
from vbot.asterisk.access import check_token
from vbot.asterisk.calls import SUBPROTOCOL


def serve(app: FastAPI, bot: Callable[[RunnerArguments], Awaitable[None]]) -> None:
    """Add the address for calls, and POST /dialout, to the framework's development runner.

    Stops the program if other machines may connect calls, and nothing keeps them out.
    """
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--host", default=runner.RUNNER_HOST)
    asterisk.check_address(parser.parse_known_args()[0].host)

    @app.websocket("/asterisk")
    @app.websocket("/asterisk/{token}")
    async def take_call(websocket: WebSocket, token: str = "") -> None:
        try:
            check_token(token)
            asterisk.check(websocket)
        except HTTPException as e:
            refusal = PlainTextResponse(e.detail, e.status_code)
            return await websocket.send_denial_response(refusal)
        await websocket.accept(SUBPROTOCOL)
        arguments = asterisk.arguments_of(websocket, str(uuid.uuid4()))
        arguments.cli_args = argparse.Namespace(transport="asterisk")
        try:
            await bot(arguments)
        finally:
            await asterisk.leave_to_dialplan(websocket)

    app.include_router(asterisk.dialout)
