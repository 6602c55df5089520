"""Lets the model look through the person's camera."""

from collections.abc import Callable
from typing import Any

from pipecat.frames.frames import UserImageRequestFrame
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.llm_service import FunctionCallParams
from pipecat.transports.base_transport import BaseTransport


def camera_tool(transport: BaseTransport) -> Callable[..., Any]:
    """Return a tool with which the model looks through the person's camera."""
    viewer = ""

    @transport.event_handler("on_client_connected")
    async def on_client_connected(transport, client):
        nonlocal viewer
        viewer = transport.get_client_id(client)

    async def look(params: FunctionCallParams, question: str):
        """Look through the person's camera to answer a question about it.

        Args:
            question: What to find out, such as "What am I holding?".
        """
        frame = UserImageRequestFrame(
            user_id=viewer,
            text=question,
            append_to_context=True,
            function_name=params.function_name,
            tool_call_id=params.tool_call_id,
            result_callback=params.result_callback,
        )
        await params.llm.push_frame(frame, FrameDirection.UPSTREAM)

    return look
