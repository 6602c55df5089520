"""vbot/voicemail.py: only calls that the bot makes are held back until it is clear who answers."""

from typing import Any

import pytest
from pipecat.processors.filters.identity_filter import IdentityFilter
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.transports.base_transport import BaseTransport

from vbot import calls, voicemail


class Transport(BaseTransport):
    def input(self) -> Any: ...

    def output(self) -> Any: ...


class CallIn(calls.Call):
    pass


class CallOut(calls.Call):
    is_outgoing = True


@pytest.fixture
def llm() -> Any:
    return OpenAILLMService(api_key="none")


@pytest.mark.parametrize("call", [None, CallIn()])
def test_nothing_is_done_in_other_sessions(llm: Any, call: calls.Call | None) -> None:
    transport = Transport()
    if call:
        calls.of_transport[transport] = call
    parts = voicemail.detect_voicemail(llm, transport, "Goodbye.")
    assert [type(part) for part in parts] == [IdentityFilter, IdentityFilter]


@pytest.mark.parametrize("setting", ["hang_up", "leave_message", None])
def test_a_call_of_the_bot_has_a_detector(
    llm: Any, setting: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VOICEMAIL", raising=False)
    if setting:
        monkeypatch.setenv("VOICEMAIL", setting)
    transport = Transport()
    calls.of_transport[transport] = CallOut()
    detector, gate = voicemail.detect_voicemail(llm, transport, "Goodbye.")
    assert isinstance(detector, voicemail.Detector)
    assert not isinstance(gate, IdentityFilter)
    assert voicemail.problems() == []


def test_a_wrong_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICEMAIL", "leave")
    assert voicemail.problems() == ["Set VOICEMAIL in .env to hang_up or leave_message."]
