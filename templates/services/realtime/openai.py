# id: realtime_a
# label: OpenAI Realtime
# names: openai, openai_realtime
# video: in
# extras: openai
# keys: https://platform.openai.com/api-keys
# env: OPENAI_API_KEY required secret: API key
# env: OPENAI_REALTIME_BASE_URL optional url =wss://api.openai.com/v1/realtime: address
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


def build(if_set, system_instruction: str) -> OpenAIRealtimeLLMService:
    llm = OpenAIRealtimeLLMService(
        api_key=os.environ["OPENAI_API_KEY"],
        **if_set(base_url="OPENAI_REALTIME_BASE_URL"),
        settings=OpenAIRealtimeLLMService.Settings(
            session_properties=SessionProperties(
                audio=AudioConfiguration(
                    input=AudioInput(
                        transcription=InputAudioTranscription(),
                        turn_detection=SemanticTurnDetection(),
                        noise_reduction=InputAudioNoiseReduction(type="near_field"),
                    )
                )
            ),
            system_instruction=system_instruction,
        ),
    )
    return llm
