"""Services that need no network, a clock that jumps, and what else the tests share."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from typing import Any, TypeVar

from pipecat.frames import frames
from pipecat.processors.filters.identity_filter import IdentityFilter
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.runner.types import CallData, WebSocketRunnerArguments
from pipecat.services.llm_service import LLMService
from pipecat.services.settings import LLMSettings, STTSettings, TTSSettings
from pipecat.services.stt_service import STTService
from pipecat.services.tts_service import TTSService
from pipecat.transports.base_transport import BaseTransport
from pipecat.utils.errors import ErrorCategory

from vbot import Sentences

T = TypeVar("T")
SENTENCES = Sentences(
    language="en-US",
    apology="Sorry.",
    please_wait="Wait.",
    connecting="I am connecting you.",
    nobody_answers="Nobody is here & answers.",
    busy="All lines are busy.",
    still_there="There?",
    silent_goodbye="Bye.",
    last_minute="A minute is left.",
    recorded="This is recorded.",
    voicemail="Call me.",
    hello="Hello.",
    still_loading="I am waking up.",
)


class Passing(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next timer when nothing else is to be done."""

    passed = 0.0  # seconds

    def time(self) -> float:
        return super().time() + self.passed

    def _run_once(self) -> None:
        ready, scheduled = self._ready, self._scheduled  # type: ignore
        times = [timer.when() for timer in scheduled if not timer.cancelled()]
        if not ready and times:
            self.passed += max(0.0, min(times) - self.time())
        super()._run_once()  # type: ignore


def passing(main: Coroutine[Any, Any, T]) -> T:
    """Run something that waits, without waiting."""
    with asyncio.Runner(loop_factory=Passing) as runner:
        return runner.run(main)


class Ears(STTService):
    hangs = False

    def __init__(self) -> None:
        super().__init__(settings=STTSettings(model=None, language=None))

    async def setup(self, setup: Any) -> None:
        await super().setup(setup)
        if self.hangs:
            await asyncio.sleep(3600)

    async def run_stt(self, audio: bytes) -> AsyncGenerator[frames.Frame | None, None]:
        yield None


class Model(LLMService):
    """A model that hangs, refuses the key, fails or answers."""

    def __init__(self, does: str = "hangs") -> None:
        super().__init__(settings=LLMSettings())
        self.does, self.asked = does, 0

    async def process_frame(self, frame: frames.Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if not isinstance(frame, frames.LLMContextFrame):
            await self.push_frame(frame, direction)
            return
        self.asked += 1
        await self.push_frame(frames.LLMFullResponseStartFrame())
        if self.does == "hangs":
            await asyncio.sleep(3600)
        elif self.does == "is refused":
            await self.push_error("no", category=ErrorCategory.AUTHENTICATION)
        elif self.does == "fails":
            await self.push_frame(frames.LLMTextFrame("It is"))
            await self.push_error("no", category=ErrorCategory.SERVER)
        else:
            await self.push_frame(frames.LLMTextFrame("Here I am."))
        await self.push_frame(frames.LLMFullResponseEndFrame())


class Voice(TTSService):
    def __init__(self) -> None:
        super().__init__(
            push_start_frame=True,
            push_stop_frames=True,
            settings=TTSSettings(model=None, voice=None, language=None),
        )
        self.said: list[str] = []

    async def run_tts(
        self, text: str, context_id: str
    ) -> AsyncGenerator[frames.Frame | None, None]:
        self.said.append(text)
        yield frames.TTSAudioRawFrame(b"\0" * 32000, 16000, 1, context_id=context_id)


class Line(BaseTransport):
    """The transport of somebody whom the bot hears and who hears the bot, without sound."""

    def __init__(self) -> None:
        super().__init__()
        self._register_event_handler("on_client_connected")
        self._register_event_handler("on_client_disconnected")
        self._input, self._output = IdentityFilter(), IdentityFilter()

    def input(self) -> FrameProcessor:
        return self._input

    def output(self) -> FrameProcessor:
        return self._output

    async def connect_client(self) -> None:
        await self._call_event_handler("on_client_connected", "somebody")
        await asyncio.sleep(0)


class Socket:
    """The WebSocket on which a carrier streams a call."""

    def __init__(self) -> None:
        self.is_open = True

    async def close(self) -> None:
        self.is_open = False


def streamed(carrier: str, call_id: str | None = "a-call", **numbers: str) -> Any:
    """The arguments of a call that a carrier streams, as create_transport leaves them."""
    data = CallData.model_validate({"call_id": call_id, **numbers})
    socket: Any = Socket()
    return WebSocketRunnerArguments(
        websocket=socket, transport_type=carrier, call_data=data, session_id="the-session"
    )
