"""Sessions over WebSockets, whose clients are limited."""

import time

import pytest
from fastapi import APIRouter, WebSocket
from pipecat.runner.types import WebSocketRunnerArguments
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocketDisconnect

from hosting_fakes import served
from vbot.hosting import websocket
from vbot.hosting.sockets import LimitedWebSocket


def test_a_page_connects_once() -> None:
    client, sessions, bot = served(websocket.router)
    session = sessions.reserve(body={"customer": "Ada"})
    with client.websocket_connect(f"/ws-client/{session.id}") as page:
        with pytest.raises(WebSocketDisconnect):
            page.receive_text()
    [arguments] = bot.sessions
    assert isinstance(arguments, WebSocketRunnerArguments)
    assert arguments.transport_type == "websocket" and arguments.session_id == session.id
    assert arguments.body == {"customer": "Ada"}


def test_others_are_refused() -> None:
    client, sessions, bot = served(websocket.router)
    session = sessions.reserve()
    sessions._running[session.id] = session  # as if it ran
    for path, status in ((session.id, 409), ("made-up", 404)):
        with pytest.raises(WebSocketDenialResponse) as refusal:
            with client.websocket_connect(f"/ws-client/{path}"):
                pass
        assert refusal.value.status_code == status
    assert bot.sessions == []


class Hasty(LimitedWebSocket):
    first_within = 0.2  # type: ignore[assignment]
    rate = 1000
    burst = 500


def ended(*messages: str | bytes, wait: float = 0) -> tuple[int, int]:
    """Return how many messages came through, and the code with which the socket was closed."""
    router, came = APIRouter(), []

    @router.websocket("/")
    async def listen(websocket: WebSocket) -> None:
        socket = Hasty(websocket)
        await socket.accept()
        while (message := await socket.receive())["type"] != "websocket.disconnect":
            came.append(message)

    client: TestClient = served(router)[0]
    with client.websocket_connect("/") as socket:
        for message in messages:
            if isinstance(message, bytes):
                socket.send_bytes(message)
            else:
                socket.send_text(message)
        time.sleep(wait)
        if not wait:
            with pytest.raises(WebSocketDisconnect) as closed:
                socket.receive_text()
            return len(came), closed.value.code
    return len(came), 0


def test_a_client_that_sends_nothing_is_disconnected() -> None:
    assert ended() == (0, 1008)


@pytest.mark.parametrize("message", ["a" * 200, b"a" * 200])
def test_a_client_that_sends_too_much_is_disconnected(message: str | bytes) -> None:
    assert ended(*[message] * 20) == (2, 1008)


def test_a_client_that_has_spoken_may_be_silent() -> None:
    assert ended("hello", wait=0.5) == (1, 0)
