"""Tests that need no bot: of agent.py as a whole, and of vbot's own tools.

Those of agent.py are tested in tests/.
"""

from pipecat.frames.frames import EndWorkerFrame, TTSSpeakFrame

import agent
from vbot import hang_up, realtime
from vbot.testing import called
from vbot.testing.tools import faults_of


def test_the_model_is_told_who_it_is() -> None:
    for name in ("SYSTEM_INSTRUCTION", "GREETING"):
        text: object = getattr(agent, name)
        assert isinstance(text, str), f"{name} in agent.py is {text!r}, which is no text"
        assert text.strip(), f"{name} in agent.py is empty"
    says: object = agent.SAY_GREETING
    assert isinstance(says, bool), f"SAY_GREETING in agent.py is {says!r}: set True or False"


def test_the_model_can_use_all_tools() -> None:
    tools: list[object] = [*agent.TOOLS]
    wrong = [fault for tool in tools for fault in faults_of(tool)]
    assert not wrong, "\n".join(wrong)


async def test_hang_up_says_goodbye_first() -> None:
    params = await called(hang_up, goodbye="Goodbye.")
    frames = [call.args[0] for call in params.llm.push_frame.await_args_list]
    assert [type(frame) for frame in frames] == [TTSSpeakFrame, EndWorkerFrame]
    assert frames[0].text == "Goodbye."


async def test_a_model_that_speaks_says_goodbye_itself() -> None:
    params = await called(realtime.hang_up)
    frames = [call.args[0] for call in params.llm.push_frame.await_args_list]
    assert [type(frame) for frame in frames] == [EndWorkerFrame]
