"""Calls of an Asterisk, which connects to the bot at /asterisk/PHONE_TOKEN."""

from fastapi import APIRouter, HTTPException, WebSocket

from vbot import asterisk
from vbot.asterisk.calls import SUBPROTOCOL
from vbot.hosting.app import Shared
from vbot.hosting.carriers import check_token
from vbot.hosting.sockets import LimitedWebSocket, refuse

router = APIRouter()
router.include_router(asterisk.dialout)


@router.websocket("/asterisk/{token}")
async def take_call(websocket: WebSocket, hosting: Shared, token: str) -> None:
    """Serve a call. If the bot has no room, Asterisk goes on with the dialplan."""
    try:
        check_token(websocket, token)
        asterisk.check(websocket)
        session = hosting.sessions.reserve(is_call=True)
    except HTTPException as e:
        return await refuse(websocket, e)
    socket = LimitedWebSocket(websocket)
    await socket.accept(SUBPROTOCOL)
    arguments = asterisk.arguments_of(socket, session.id)
    running = hosting.sessions.start(session, arguments)
    try:
        await running
    finally:
        await asterisk.leave_to_dialplan(socket)
