# id: realtime_a
# label: OpenAI Realtime
# names: openai, openai_realtime
# turns: SemanticTurnDetection(eagerness='low')
# video: in
# extras: openai
# license: BSD-3-Clause: httpx
# languages: af, ar, az, be, bg, bs, ca, cs, cy, da, de, el, en, es, et, fa, fi, fr, gl, he, hi, hr
# languages: hu, hy, id, is, it, ja, kk, kn, ko, lt, lv, mi, mk, mr, ms, ne, nl, no, pl, pt, ro, ru
# languages: sk, sl, sr, sv, sw, ta, th, tl, tr, uk, ur, vi, zh
# keys: https://platform.openai.com/api-keys
# env: OPENAI_API_KEY required secret: API key
# env: OPENAI_REALTIME_BASE_URL optional url =wss://api.openai.com/v1/realtime: address
# stand-in: realtime_api OPENAI_REALTIME_BASE_URL=ws://{}/v1/realtime
# host: api.openai.com
import os

from pipecat.services.openai.realtime.events import (
    AudioConfiguration,
    AudioInput,
    InputAudioNoiseReduction,
    InputAudioTranscription,
    SemanticTurnDetection,
    SessionProperties,
)
from pipecat.services.openai.realtime.llm import OpenAIRealtimeLLMService


def build(system_instruction: str, language: str) -> OpenAIRealtimeLLMService:
    llm = OpenAIRealtimeLLMService(
        api_key=os.environ["OPENAI_API_KEY"],
        base_url=os.getenv("OPENAI_REALTIME_BASE_URL", "wss://api.openai.com/v1/realtime"),
        settings=OpenAIRealtimeLLMService.Settings(
            session_properties=SessionProperties(
                audio=AudioConfiguration(
                    input=AudioInput(
                        transcription=InputAudioTranscription(
                            model="gpt-realtime-whisper",
                            language=language.split("-")[0],  # when: language
                        ),
                        turn_detection=SemanticTurnDetection(),
                        noise_reduction=InputAudioNoiseReduction(type="near_field"),
                    )
                )
            ),
            system_instruction=system_instruction,
        ),
    )
    return llm
