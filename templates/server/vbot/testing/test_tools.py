"""Tests that need no bot: of agent.py as a whole, and of vbot's own tools.

Those of agent.py are tested in tests/.
"""

from pipecat.frames.frames import EndWorkerFrame, TTSSpeakFrame

import agent
from vbot import hang_up, realtime
from vbot.testing import called


def test_the_model_is_told_who_it_is() -> None:
    assert agent.SYSTEM_INSTRUCTION.strip(), "SYSTEM_INSTRUCTION in agent.py is empty"
    assert agent.GREETING.strip(), "GREETING in agent.py is empty"


async def test_hang_up_says_goodbye_first() -> None:
    params = await called(hang_up, goodbye="Goodbye.")
    frames = [call.args[0] for call in params.llm.push_frame.await_args_list]
    assert [type(frame) for frame in frames] == [TTSSpeakFrame, EndWorkerFrame]
    assert frames[0].text == "Goodbye."


async def test_a_model_that_speaks_says_goodbye_itself() -> None:
    params = await called(realtime.hang_up)
    frames = [call.args[0] for call in params.llm.push_frame.await_args_list]
    assert [type(frame) for frame in frames] == [EndWorkerFrame]
