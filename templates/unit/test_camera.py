"""vbot/camera.py: the tool asks for a picture of the person who is connected."""

import asyncio
from typing import Any

from pipecat.frames.frames import UserImageRequestFrame
from pipecat.processors.frame_processor import FrameDirection
from pipecat.transports.base_transport import BaseTransport

from vbot.camera import camera_tool


class Transport(BaseTransport):
    def __init__(self) -> None:
        super().__init__()
        self._register_event_handler("on_client_connected")

    def input(self) -> Any: ...

    def output(self) -> Any: ...

    def get_client_id(self, client: str) -> str:
        return f"id of {client}"


class Params:
    """What the framework gives a tool."""

    function_name, tool_call_id = "look", "call_1"

    def __init__(self) -> None:
        self.llm, self.pushed = self, []

    async def push_frame(self, frame: Any, direction: FrameDirection) -> None:
        self.pushed.append((frame, direction))

    async def result_callback(self, result: Any) -> None: ...


def test_the_model_looks() -> None:
    async def look() -> Any:
        transport, params = Transport(), Params()
        tool = camera_tool(transport)
        assert tool.__name__ == "look"
        await transport._call_event_handler("on_client_connected", "visitor")
        await asyncio.sleep(0.05)  # handlers run in tasks of their own
        await tool(params, "What am I holding?")
        return params.pushed

    [(frame, direction)] = asyncio.run(look())
    assert isinstance(frame, UserImageRequestFrame) and direction is FrameDirection.UPSTREAM
    assert (frame.user_id, frame.text) == ("id of visitor", "What am I holding?")
    assert (frame.function_name, frame.tool_call_id) == ("look", "call_1")
