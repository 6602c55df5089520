# id: realtime_h
# label: Ultravox
# names: ultravox
# extras: ultravox
# keys: https://app.ultravox.ai/
# env: ULTRAVOX_API_KEY required secret: API key
import os
from datetime import timedelta

from pipecat.services.ultravox.llm import OneShotInputParams, UltravoxRealtimeLLMService


def build(system_instruction: str) -> UltravoxRealtimeLLMService:
    llm = UltravoxRealtimeLLMService(
        params=OneShotInputParams(
            api_key=os.environ["ULTRAVOX_API_KEY"],
            system_prompt=system_instruction,
            temperature=0.3,
            max_duration=timedelta(minutes=3),
        )
    )
    return llm
