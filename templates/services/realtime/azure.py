# id: realtime_d
# label: Azure Realtime
# names: azure, azure_realtime
# turns: AudioInput(turn_detection=TurnDetection(silence_duration_ms=1000))
# turns-import: from pipecat.services.openai.realtime.events import TurnDetection
# video: in
# extras: azure
# license: LicenseRef-Microsoft: azure-cognitiveservices-speech
# languages: af, ar, az, be, bg, bs, ca, cs, cy, da, de, el, en, es, et, fa, fi, fr, gl, he, hi, hr
# languages: hu, hy, id, is, it, ja, kk, kn, ko, lt, lv, mi, mk, mr, ms, ne, nl, no, pl, pt, ro, ru
# languages: sk, sl, sr, sv, sw, ta, th, tl, tr, uk, ur, vi, zh
# keys: https://portal.azure.com/
# env: AZURE_REALTIME_API_KEY required secret: key of the Azure OpenAI resource
# env: AZURE_REALTIME_BASE_URL required url: wss URL ending in /openai/v1/realtime?model=DEPLOYMENT
# stand-in: realtime_api AZURE_REALTIME_BASE_URL=ws://{}/v1/realtime?model=test
# host: {AZURE_REALTIME_BASE_URL}
import os

from pipecat.services.azure.realtime.llm import AzureRealtimeLLMService
from pipecat.services.openai.realtime.events import (
    AudioConfiguration,
    AudioInput,
    InputAudioTranscription,
    SessionProperties,
)


def build(system_instruction: str, language: str) -> AzureRealtimeLLMService:
    llm = AzureRealtimeLLMService(
        api_key=os.environ["AZURE_REALTIME_API_KEY"],
        base_url=os.environ["AZURE_REALTIME_BASE_URL"],
        settings=AzureRealtimeLLMService.Settings(
            session_properties=SessionProperties(
                audio=AudioConfiguration(
                    input=AudioInput(
                        transcription=InputAudioTranscription(
                            model="whisper-1",
                            language=language.split("-")[0],  # when: language
                        )
                    )
                )
            ),
            system_instruction=system_instruction,
        ),
    )
    return llm
