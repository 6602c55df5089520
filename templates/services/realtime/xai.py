# id: realtime_g
# label: Grok Realtime
# names: xai, xai_realtime, grok_realtime, grok
# turns: SessionProperties(turn_detection=TurnDetection(silence_duration_ms=1000))
# turns-import: from pipecat.services.xai.realtime.events import TurnDetection
# extras: xai
# languages: ar, bn, de, en, es, fr, hi, id, it, ja, ko, pt, ru, tr, vi, zh
# keys: https://console.x.ai/
# env: XAI_API_KEY required secret: API key
# env: XAI_REALTIME_BASE_URL optional url =wss://api.x.ai/v1/realtime: address
# env: XAI_VOICE_ID optional voice =eve: voice id
# stand-in: xai XAI_REALTIME_BASE_URL=ws://{}/v1/realtime
# host: api.x.ai
import os

from pipecat.services.xai.realtime.events import (
    AudioConfiguration,
    AudioInput,
    InputAudioTranscription,
    PCMAudioFormat,
    SessionProperties,
)
from pipecat.services.xai.realtime.llm import GrokRealtimeLLMService


def build(system_instruction: str, language: str) -> GrokRealtimeLLMService:
    llm = GrokRealtimeLLMService(
        api_key=os.environ["XAI_API_KEY"],
        base_url=os.getenv("XAI_REALTIME_BASE_URL", "wss://api.x.ai/v1/realtime"),
        settings=GrokRealtimeLLMService.Settings(
            session_properties=SessionProperties(
                voice=os.getenv("XAI_VOICE_ID", "eve"),
                audio=AudioConfiguration(  # when: language
                    input=AudioInput(  # when: language
                        format=PCMAudioFormat(rate=16000),  # the pipeline's rate  # when: language
                        transcription=InputAudioTranscription(  # when: language
                            language_hint=language,  # when: language
                        ),  # when: language
                    ),  # when: language
                ),  # when: language
            ),
            system_instruction=system_instruction,
        ),
    )
    return llm
