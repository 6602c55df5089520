"""Calls that webhooks.py starts: POST /call."""

from typing import Any

from fastapi import APIRouter
from pipecat.runner.types import RunnerArguments

from vbot.daily import Call
from vbot.hosting.app import Shared

router = APIRouter()


@router.post("/call")
async def start(body: dict[str, Any], hosting: Shared) -> dict[str, str]:
    """Start a session in the room that webhooks.py made for a call."""
    Call.authentic(body)
    session = hosting.sessions.reserve(is_call=True)
    arguments = RunnerArguments(body=body, session_id=session.id)
    hosting.sessions.start(session, arguments, may_ring=True)
    return {"sessionId": session.id}
