"""Tests of vbot's own tools, which need no bot."""

from pipecat.frames.frames import EndWorkerFrame, TTSSpeakFrame

from vbot import hang_up, realtime
from vbot.testing import called


async def test_hang_up_says_goodbye_first() -> None:
    params = await called(hang_up, goodbye="Goodbye.")
    frames = [call.args[0] for call in params.llm.push_frame.await_args_list]
    assert [type(frame) for frame in frames] == [TTSSpeakFrame, EndWorkerFrame]
    assert frames[0].text == "Goodbye."


async def test_a_model_that_speaks_says_goodbye_itself() -> None:
    params = await called(realtime.hang_up)
    frames = [call.args[0] for call in params.llm.push_frame.await_args_list]
    assert [type(frame) for frame in frames] == [EndWorkerFrame]
