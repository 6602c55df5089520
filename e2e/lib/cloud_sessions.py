"""A stand-in for the server on Pipecat Cloud that receives sessions and calls bot() for each.

It runs with the bot's own Python, in the folder of bot.py, as the server of the base image does
(https://github.com/daily-co/pipecat-cloud-images): bot.py is imported, not run; the arguments are
those of the package pipecatcloud; a WebSocket comes without a word about who speaks on it.
"""

import base64
import importlib.util
import json
import sys
import uuid
from typing import Annotated, Any

import bot
import uvicorn
from fastapi import BackgroundTasks, FastAPI, Header, WebSocket
from loguru import logger
from pipecatcloud.agent import (
    DailySessionArguments,
    PipecatSessionArguments,
    SmallWebRTCSessionArguments,
    WebSocketSessionArguments,
)

app = FastAPI()
logger.remove()
logger.add(sys.stderr, level="DEBUG")


async def run(arguments: Any) -> None:
    try:
        await bot.bot(arguments)
    except Exception:
        logger.exception("bot() failed")


@app.get("/status")
async def status() -> dict[str, str]:
    return {"status": "ready"}


@app.post("/bot")
async def session(
    body: dict[str, Any],
    x_daily_room_url: Annotated[str | None, Header()] = None,
    x_daily_room_token: Annotated[str | None, Header()] = None,
) -> dict[str, str]:
    """Run a session, in a room of Daily's or in none, and respond when it is over."""
    name = str(uuid.uuid4())
    if x_daily_room_url and x_daily_room_token:
        await run(
            DailySessionArguments(
                session_id=name, room_url=x_daily_room_url, token=x_daily_room_token, body=body
            )
        )
    else:
        await run(PipecatSessionArguments(session_id=name, body=body))
    return {}


@app.websocket("/ws")
async def stream(ws: WebSocket, body: str | None = None) -> None:
    await ws.accept()
    decoded = json.loads(base64.b64decode(body)) if body else None
    name = str(uuid.uuid4())
    await run(WebSocketSessionArguments(session_id=name, websocket=ws, body=decoded))


@app.post("/start")
async def start() -> dict[str, str]:
    """What a web client asks first, of Pipecat Cloud itself."""
    return {"sessionId": str(uuid.uuid4())}


if importlib.util.find_spec("aiortc"):
    from pipecat.transports.smallwebrtc.request_handler import (
        SmallWebRTCRequest,
        SmallWebRTCRequestHandler,
    )

    peers = SmallWebRTCRequestHandler()

    @app.post("/sessions/{name}/api/offer")
    async def offer(name: str, request: dict[str, Any], later: BackgroundTasks) -> Any:
        async def connected(connection: Any) -> None:
            arguments = SmallWebRTCSessionArguments(
                session_id=name, webrtc_connection=connection, body={}
            )
            later.add_task(run, arguments)

        return await peers.handle_web_request(
            request=SmallWebRTCRequest.from_dict(request), webrtc_connection_callback=connected
        )


if __name__ == "__main__":
    uvicorn.run(app, host="localhost", port=int(sys.argv[1]))
