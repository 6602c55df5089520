"""vbot/noise.py: without the SDK, the bot works without the filter."""

import pytest
from loguru import logger

from vbot import noise


def test_it_is_off_without_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise, "find_spec", lambda name: None)
    lines: list[str] = []
    sink = logger.add(lambda message: lines.append(message.record["message"]))
    assert noise.noise_filter() is None
    logger.remove(sink)
    assert lines == ["Noise cancelling is off: the krisp_audio SDK is not installed here."]
