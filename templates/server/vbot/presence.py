"""Ends a session whose person is gone, whatever became of the event that says so.

bot.py ends its session in the event `on_client_disconnected`. Somebody who leaves while the
pipeline is still being built leaves before bot.py listens, and the framework may take a connection
that is closed by then for one that works: for three seconds after its last message (Pipecat 1.14).
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextvars import ContextVar
from typing import Any

from loguru import logger
from pipecat.runner import types
from pipecat.transports.base_transport import BaseTransport
from starlette.websockets import WebSocketState

CHECK_EVERY = 1.0  # seconds
# Seconds without a connection after which a session ends. When a network changes, the framework
# closes one connection and opens the next, which takes up to a second.
GRACE = 5.0
# Likewise, for a connection that is being established: what SmallWebRTC itself allows.
CONNECTING_TAKES = 60.0
# Seconds in which a session that has begun to end has to be over: it may have a recording to save.
ENDING_TAKES = 15.0


class Presence:
    """Whether the person of a session is there.

    Args:
        arguments: Of the session.
    """

    def __init__(self, arguments: types.RunnerArguments):
        self._arguments = arguments
        self._clients = set[Any]()  # that are connected
        self._left = False  # the last client
        self._is_ending = False  # bot.py has been told that the client left
        self._bot_listens = False  # to the transport

    @property
    def is_gone(self) -> bool:
        """Whether the last client has left."""
        return self._left

    def attach(self, transport: BaseTransport) -> None:
        """Listen to the transport of the session from its beginning."""
        transport.add_event_handler("on_client_connected", self._on_connected)
        transport.add_event_handler("on_client_disconnected", self._on_disconnected)
        match self._arguments:  # the bot may lose its room, such as one that is deleted
            case types.LiveKitRunnerArguments():
                transport.add_event_handler("on_disconnected", self._on_nobody)
            case types.DailyRunnerArguments():
                transport.add_event_handler("on_call_state_updated", self._on_state)

    def conversation_begins(self) -> None:
        """The pipeline is built: bot.py listens to the transport next."""
        self._bot_listens = True

    async def _on_connected(self, transport: BaseTransport, client: Any) -> None:
        self._clients.add(key_of(client))
        self._left = False

    async def _on_disconnected(self, transport: BaseTransport, client: Any) -> None:
        self._clients.discard(key_of(client))
        if not self._clients:
            await self._on_nobody(transport)

    async def _on_nobody(self, transport: BaseTransport) -> None:
        self._clients.clear()
        self._left = True
        self._is_ending = self._bot_listens

    async def _on_state(self, transport: BaseTransport, state: str) -> None:
        if state == "left":
            await self._on_nobody(transport)

    def patience(self) -> float | None:
        """Return for how many seconds the state may last, or None if the person may be there."""
        state = connection_state(self._arguments)
        if state == "connecting":
            return CONNECTING_TAKES
        if self._left and self._is_ending:
            return ENDING_TAKES
        return GRACE if self._left or state == "closed" else None

    async def watch(self, end: Callable[[], object]) -> None:
        """Call `end` when the person is gone, and again if the session goes on all the same."""
        clock = asyncio.get_running_loop()
        is_there_until = clock.time()
        while True:
            await asyncio.sleep(CHECK_EVERY)
            patience = self.patience()
            if patience is None:
                is_there_until = clock.time()
            elif clock.time() - is_there_until >= patience:
                logger.debug("The person is gone: the session ends")
                self._is_ending = self._left = True
                is_there_until = clock.time()
                end()


def key_of(client: Any) -> Any:
    """Return what tells a client of a transport from the others."""
    return client.get("id") if isinstance(client, Mapping) else id(client)


def connection_state(arguments: types.RunnerArguments) -> str:
    """Return "open", "connecting" or "closed", or "" if only the transport knows."""
    match arguments:
        case types.SmallWebRTCRunnerArguments(webrtc_connection=connection) if connection:
            state = connection.pc.connectionState
            if state in ("closed", "failed"):
                return "closed"
            return "open" if state == "connected" else "connecting"
        case types.WebSocketRunnerArguments(websocket=socket) if socket:
            gone = getattr(socket, "client_state", None) == WebSocketState.DISCONNECTED
            return "closed" if gone else "open"
    return ""


present: ContextVar[Presence | None] = ContextVar("present", default=None)


@contextlib.asynccontextmanager
async def attended(
    arguments: types.RunnerArguments, end: Callable[[], object]
) -> AsyncIterator[None]:
    """Call `end` if the person leaves before the session is over.

    A connection over SmallWebRTC is closed afterwards: the framework closes only one that it takes
    for connected, and another keeps its buffers, its tasks and the thread of its decoder.
    """
    presence = Presence(arguments)
    present.set(presence)
    watching = asyncio.create_task(presence.watch(end))
    try:
        yield
    finally:
        watching.cancel()
        if isinstance(arguments, types.SmallWebRTCRunnerArguments):
            await close(arguments.webrtc_connection)


async def close(connection: Any) -> None:
    """Close a connection over SmallWebRTC, if it is not."""
    try:
        await connection.disconnect()
    except Exception as e:  # the session is over all the same
        logger.debug(f"The connection could not be closed: {e}")
