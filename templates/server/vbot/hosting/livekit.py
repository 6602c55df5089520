"""Sessions over LiveKit."""

from typing import Any

from pipecat.runner.livekit import generate_session_tokens, livekit_credentials
from pipecat.runner.types import LiveKitRunnerArguments

from vbot.hosting.sessions import Session, Sessions


async def start(sessions: Sessions, session: Session) -> dict[str, Any]:
    """The session starts, in a room of its own."""
    url, key, secret = livekit_credentials()
    name = session.id.rpartition(".")[2]
    bot_token, token = generate_session_tokens(name, name, key, secret)
    arguments = LiveKitRunnerArguments(
        room_name=name, url=url, token=bot_token, body=session.body, session_id=session.id
    )
    sessions.start(session, arguments)
    return {"url": url, "token": token}
