"""Creates the transport of a call, once Asterisk has said what it sends."""

import asyncio
from typing import Any, cast

from fastapi import WebSocket
from pipecat.runner.types import WebSocketRunnerArguments
from pipecat.transports.base_transport import BaseTransport
from pipecat.transports.websocket.fastapi import (
    FastAPIWebsocketParams,
    FastAPIWebsocketTransport,
)

from vbot.asterisk.calls import START_WITHIN, call_data
from vbot.asterisk.serializer import AsteriskFrameSerializer, OneReader, read_event
from vbot.calls import AsteriskCall, of_transport


async def create_transport(
    runner_args: WebSocketRunnerArguments, params: FastAPIWebsocketParams
) -> BaseTransport:
    """Create the transport of a call, and set `runner_args.call_data`.

    Raises ValueError if Asterisk sends what the bot does not understand, or nothing.
    """
    socket = OneReader(runner_args.websocket)
    text = await first_text(socket)
    data = call_data(read_event(text), runner_args.websocket.url.query)
    runner_args.call_data = data
    media, rate = data["format"], data["sample_rate"]
    params.audio_out_sample_rate = rate  # resampled here, the last word would be cut
    params.serializer = AsteriskFrameSerializer(socket, media, rate, as_json=text.startswith("{"))
    transport = FastAPIWebsocketTransport(cast(WebSocket, socket), params)
    of_transport[transport] = AsteriskCall(runner_args)
    return transport


async def first_text(socket: OneReader) -> str:
    """Return the first message of text. Raises ValueError if there is none."""
    try:
        async with asyncio.timeout(START_WITHIN):
            while True:
                message: Any = await socket.receive()
                if message["type"] != "websocket.receive":
                    raise ValueError("The caller hung up before the call began")
                if text := message.get("text"):
                    return text
    except TimeoutError as e:
        raise ValueError("Asterisk did not say what it sends: MEDIA_START is missing") from e
