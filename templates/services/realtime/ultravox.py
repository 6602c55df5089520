# id: realtime_h
# label: Ultravox
# names: ultravox
# turns: OneShotInputParams(extra={'vadSettings': {'turnEndpointDelay': '1s'}})
# extras: ultravox
# languages: ar, bg, cs, da, de, el, en, es, fi, fr, hi, hu, it, ja, nl, pl, pt, ro, ru, sk, sv, ta
# languages: tr, uk, vi, zh
# keys: https://app.ultravox.ai/
# env: ULTRAVOX_API_KEY required secret: API key
# host: api.ultravox.ai
# host: *.ultravox.ai: the call, at the address that the API answers
import os

from pipecat.adapters.llm.schemas.direct_function import DirectFunction
from pipecat.services.ultravox.llm import OneShotInputParams, UltravoxRealtimeLLMService


def build(
    system_instruction: str, language: str, tools: list[DirectFunction]
) -> UltravoxRealtimeLLMService:
    # A call ends after an hour: the framework's default, and its limit.
    llm = UltravoxRealtimeLLMService(
        params=OneShotInputParams(
            api_key=os.environ["ULTRAVOX_API_KEY"],
            system_prompt=system_instruction,
            temperature=0.3,
            extra={"languageHint": language},  # when: language
        ),
        one_shot_selected_tools=[*tools],
    )
    return llm
