"""Sessions over WebSockets of pages."""

from typing import Any

from fastapi import APIRouter, HTTPException, WebSocket
from pipecat.runner.types import WebSocketRunnerArguments

from vbot.calls import public_url
from vbot.hosting.app import Shared
from vbot.hosting.sessions import Session, Sessions
from vbot.hosting.sockets import LimitedWebSocket, refuse

router = APIRouter()


async def start(sessions: Sessions, session: Session) -> dict[str, Any]:
    """The session starts when the page connects."""
    host = public_url().replace("http", "ws", 1)
    return {"wsUrl": f"{host}/ws-client/{session.id}"}  # without a host, the one that was asked


@router.websocket("/ws-client/{session_id}")
async def join(websocket: WebSocket, session_id: str, hosting: Shared) -> None:
    """Serve a session with a page."""
    try:
        if not (session := hosting.sessions.find(session_id)):
            raise HTTPException(409, "the session has started already")
    except HTTPException as e:
        return await refuse(websocket, e)
    socket = LimitedWebSocket(websocket)
    arguments = WebSocketRunnerArguments(
        websocket=socket,
        transport_type="websocket",
        body=session.body,
        session_id=session_id,
    )
    await socket.accept()
    running = hosting.sessions.start(session, arguments)
    await running  # the socket closes when this function returns
