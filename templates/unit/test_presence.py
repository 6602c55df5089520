"""A session ends when its person is gone, also when no event says so."""

import asyncio
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from pipecat.runner import types, utils
from starlette.websockets import WebSocketState

from fakes import Line, passing
from vbot import create_transport, local, presence
from vbot.hosting.sessions import Sessions
from vbot.presence import CONNECTING_TAKES, ENDING_TAKES, GRACE, Presence, attended, present


class Connection:
    """A connection over SmallWebRTC, as far as presence.py looks at it."""

    def __init__(self, state: str = "connected") -> None:
        self.pc = SimpleNamespace(connectionState=state)
        self.is_closed = False

    async def disconnect(self) -> None:
        self.is_closed = True
        raise ConnectionError  # as it may


def over_webrtc(connection: Connection) -> types.RunnerArguments:
    return types.SmallWebRTCRunnerArguments(webrtc_connection=connection)  # type: ignore[arg-type]


class Room(Line):
    def __init__(self) -> None:
        super().__init__()
        for name in ("disconnected", "call_state_updated"):
            self._register_event_handler(f"on_{name}")

    async def tell(self, event: str, *about: Any) -> None:
        await self._call_event_handler(f"on_{event}", *about)
        await asyncio.sleep(0.01)


def ended_after(doing: Any, seconds: float = 100) -> float | None:
    """After how many seconds the session of `doing` is ended, or None within `seconds`."""

    async def visit() -> float | None:
        clock = asyncio.get_running_loop()
        began = clock.time()
        over = asyncio.Event()
        arguments, act = doing()
        async with attended(arguments, over.set):
            await act()
            try:
                await asyncio.wait_for(over.wait(), seconds)
            except TimeoutError:
                return None
        return clock.time() - began

    return passing(visit())


async def nothing() -> None:
    pass


@pytest.mark.parametrize(
    ("state", "seconds"),
    [
        ("closed", GRACE),
        ("failed", GRACE),
        ("new", CONNECTING_TAKES),
        ("connecting", CONNECTING_TAKES),
        ("connected", None),
    ],
)
def test_a_session_ends_without_its_connection(state: str, seconds: float | None) -> None:
    """However it began. Somebody who is silent stays."""
    after = ended_after(lambda: (over_webrtc(Connection(state)), nothing))
    assert after == (seconds and pytest.approx(seconds, abs=1.5))


def test_a_network_changes_in_the_meantime() -> None:
    connection = Connection()

    async def change() -> None:
        for state in ("closed", "connecting", "connected") * 3:
            connection.pc.connectionState = state
            await asyncio.sleep(GRACE - 2)

    assert ended_after(lambda: (over_webrtc(connection), change)) is None


@pytest.mark.parametrize("is_open", [True, False])
def test_a_socket_that_is_closed(is_open: bool) -> None:
    state = WebSocketState.CONNECTED if is_open else WebSocketState.DISCONNECTED
    socket: Any = SimpleNamespace(client_state=state)
    after = ended_after(lambda: (types.WebSocketRunnerArguments(websocket=socket), nothing))
    assert after == (None if is_open else pytest.approx(GRACE, abs=1.5))


def visited(*events: tuple[str, Any], built: float | None = None) -> Any:
    """A visit over a room, of which only the transport knows, and what it says."""

    async def act() -> None:
        room = Room()
        here = present.get()
        assert here
        here.attach(room)
        if built is not None:
            here.conversation_begins()
            await asyncio.sleep(built)
        for event, client in events:
            await room.tell(event, client)

    return lambda: (types.RunnerArguments(), act)


CAME, LEFT = ("client_connected", {"id": "a"}), ("client_disconnected", {"id": "a"})


@pytest.mark.parametrize(
    ("events", "built", "seconds"),
    [
        ((), None, None),  # a call may ring
        ((CAME,), 3, None),
        ((CAME, LEFT), None, GRACE),  # bot.py does not listen yet
        ((LEFT,), None, GRACE),
        ((CAME, LEFT), 0, ENDING_TAKES),  # bot.py ends it, which may take an apology
        ((CAME, LEFT), 3, 3 + ENDING_TAKES),
        ((CAME, LEFT, CAME), 3, None),
        ((CAME, ("client_connected", {"id": "b"}), LEFT), 3, None),  # somebody is still there
    ],
)
def test_the_transport_says_who_leaves(
    events: Any, built: float | None, seconds: float | None
) -> None:
    after = ended_after(visited(*events, built=built))
    assert after == (seconds and pytest.approx(seconds, abs=1.5))


@pytest.mark.parametrize(
    ("arguments", "event", "seconds"),
    [
        (types.LiveKitRunnerArguments("a", "b", "c"), ("disconnected",), GRACE),
        (types.DailyRunnerArguments("a"), ("call_state_updated", "left"), GRACE),
        (types.DailyRunnerArguments("a"), ("call_state_updated", "joined"), None),
        (types.RunnerArguments(), ("call_state_updated", "left"), None),
    ],
)
def test_the_bot_may_lose_its_room(arguments: Any, event: Any, seconds: float | None) -> None:
    async def lose() -> None:
        room = Room()
        here = present.get()
        assert here
        here.attach(room)
        await room.tell(*CAME)
        await room.tell(*event)

    after = ended_after(lambda: (arguments, lose))
    assert after == (seconds and pytest.approx(seconds, abs=1.5))


async def test_a_connection_is_closed_after_its_session() -> None:
    connection = Connection()
    async with attended(over_webrtc(connection), lambda: None):
        assert not connection.is_closed
    assert connection.is_closed


@pytest.mark.parametrize("why", ["left", "service"])
def test_the_place_is_free_again(why: str) -> None:
    """If the session ignores its first cancellation, too."""

    async def visit() -> str:
        ended: list[str] = []

        async def bot(arguments: types.RunnerArguments) -> None:
            for _ in range(2):
                try:
                    await asyncio.sleep(1000)
                except asyncio.CancelledError:
                    ended.append("cancelled")

        sessions = Sessions(bot, 1)
        sessions.open()
        session = sessions.reserve()
        session.client_connected()
        session.ended_because = why
        sessions.start(session, over_webrtc(Connection("closed")))
        await asyncio.sleep(GRACE + 2)
        assert sessions.count() == 1 and ended == ["cancelled"]
        await asyncio.sleep(ENDING_TAKES + 2)
        assert sessions.count() == 0 and ended == ["cancelled"] * 2
        return session.ended_because

    assert passing(visit()) == why


def test_without_a_session_nobody_is_watched() -> None:
    """As on Pipecat Cloud, which ends sessions itself."""
    assert present.get() is None
    assert Presence(types.RunnerArguments()).patience() is None
    assert presence.key_of("somebody") != presence.key_of("somebody else")


async def test_create_transport_listens_before_bot_py(monkeypatch: pytest.MonkeyPatch) -> None:
    room = Room()

    async def create(arguments: Any, transports: Any) -> Room:
        return room

    monkeypatch.setattr(utils, "create_transport", create)
    arguments = types.RunnerArguments()
    async with attended(arguments, lambda: None):
        here = present.get()
        assert here and await create_transport(arguments, {}) is room
        await room.tell("client_connected", "somebody")
        assert here.patience() is None
        await room.tell("client_disconnected", "somebody")
        assert here.patience() == GRACE


def test_the_development_runner_ends_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []

    async def bot(arguments: types.RunnerArguments) -> None:
        assert present.get()
        try:
            await asyncio.sleep(1000)
        finally:
            ended.append("cancelled")

    for name in ("end_quietly_until_started", "log_plainly"):
        monkeypatch.setattr(local, name, lambda app: None)
    monkeypatch.setattr(sys.modules["__main__"], "bot", None, raising=False)
    connection = Connection("closed")

    async def visit() -> float:
        began = asyncio.get_running_loop().time()
        await local.prepare(FastAPI(), bot)(over_webrtc(connection))
        return asyncio.get_running_loop().time() - began

    assert passing(visit()) == pytest.approx(GRACE, abs=1.5)
    assert ended == ["cancelled"] and connection.is_closed
