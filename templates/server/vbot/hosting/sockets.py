"""WebSockets whose clients are limited."""

import asyncio
import time
from typing import Any

from fastapi import HTTPException, WebSocket
from starlette.responses import PlainTextResponse

from vbot.hosting.sessions import RESERVED_FOR


class LimitedWebSocket(WebSocket):
    """A WebSocket that is closed if its client sends nothing at first, or more than audio needs.

    Attributes:
        first_within: Seconds in which the first message has to come.
        rate: Bytes a second: twice what audio takes at 48 kHz, in two channels.
        burst: Bytes beyond that.
    """

    first_within = RESERVED_FOR
    rate = 400_000
    burst = 1_000_000

    def __init__(self, websocket: WebSocket):
        super().__init__(websocket.scope, websocket.receive, websocket.send)
        self._opened_at = time.monotonic()
        self._received = 0  # bytes
        self._has_message = False

    async def receive(self):
        try:
            async with asyncio.timeout(None if self._has_message else self.first_within):
                message = await super().receive()
        except TimeoutError:
            return await self._end("nothing came")
        if message["type"] == "websocket.receive":
            self._has_message = True
            self._received += len(message.get("bytes") or message.get("text") or "")
        if self._received > self.burst + self.rate * (time.monotonic() - self._opened_at):
            return await self._end("too much came")
        return message

    async def _end(self, reason: str) -> dict[str, Any]:
        await self.close(1008, reason)
        return {"type": "websocket.disconnect", "code": 1008}


async def refuse(websocket: WebSocket, why: HTTPException) -> None:
    """Answer the request for a WebSocket with an error."""
    await websocket.send_denial_response(PlainTextResponse(why.detail, why.status_code))
