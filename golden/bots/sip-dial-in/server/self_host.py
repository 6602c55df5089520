"""Serves the bot on your own machines.

At most MAX_SESSIONS sessions run at a time. After SIGTERM no session starts. The program ends when
the running ones have ended, at the latest after DRAIN_SECONDS. DEPLOY.md says how to run it.
"""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read when ONNX Runtime is imported
if os.getenv("LOG_FORMAT") == "json":
    os.environ["LOGURU_SERIALIZE"] = "true"  # read when Loguru is imported

from typing import Any

from fastapi import HTTPException, Request
from pipecat.runner.types import RunnerArguments
from pydantic import BaseModel

import bot
import door
import serving
import settings

settings.load()
places = door.Door(int(os.getenv("MAX_SESSIONS", "8")))
app = serving.new_app(places)


async def start_call(place: door.Place, request: Request) -> dict[str, Any]:
    """The session starts, in the room that server.py made for a call."""
    arguments = RunnerArguments(body=place.body, session_id=place.id)
    places.start(place, bot.bot(arguments), call=True)
    return {}


STARTS = {
    "daily": start_call,
}


class Start(BaseModel):
    """What is asked for."""

    transport: str = next(iter(STARTS))
    body: Any = {}  # for bot.py


@app.post("/start")
async def start(asked: Start, request: Request) -> dict[str, Any]:
    """Keep a place for a session, and say how to join it."""
    if asked.transport not in STARTS:
        raise HTTPException(400, f"this bot does not know the transport {asked.transport!r}")
    place = places.reserve(asked.body)
    return {"sessionId": place.id} | await STARTS[asked.transport](place, request)


if __name__ == "__main__":
    serving.set_up_logs(places)
    settings.require(
        [
            *bot.REQUIRED,
        ]
    )
    serving.Server(app, places).run()
