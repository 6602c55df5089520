"""The voice and the ear of speech.py as services of the eval harness.

A scenario names them as factories (`speech: {factory: eval_speech.voice}`) in the place of the
default ones, whose models come from a hub. It runs in the generated project's environment.
"""

from collections.abc import AsyncGenerator
from typing import Any

from pipecat.frames.frames import Frame, TranscriptionFrame, TTSAudioRawFrame
from pipecat.services.settings import STTSettings, TTSSettings
from pipecat.services.stt_service import SegmentedSTTService
from pipecat.services.tts_service import TTSService
from pipecat.utils.time import time_now_iso8601

import speech


class Voice(TTSService):
    async def run_tts(self, text: str, context_id: str) -> AsyncGenerator[Frame | None, None]:
        pcm = speech.speak(text, self.sample_rate)
        yield TTSAudioRawFrame(pcm, self.sample_rate, 1, context_id=context_id)


class Ear(SegmentedSTTService):
    wants_wav_segments = False

    def __init__(self, sentences: list[str]):
        super().__init__(settings=STTSettings(model=None, language=None))
        self._sentences = sentences

    async def run_stt(self, audio: bytes) -> AsyncGenerator[Frame, None]:
        heard = " ".join(speech.hear(audio, self.sample_rate, self._sentences))
        if heard:
            yield TranscriptionFrame(heard, "", time_now_iso8601())


def voice(config: dict[str, Any]) -> Voice:
    return Voice(settings=TTSSettings(model=None, voice="espeak", language=None))


def ear(config: dict[str, Any]) -> Ear:
    return Ear(config["sentences"])
