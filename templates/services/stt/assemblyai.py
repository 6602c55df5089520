# id: stt_c
# label: AssemblyAI
# names: assemblyai, assemblyai_stt
# extras: assemblyai
# languages: af, ar, ca, da, de, en, es, et, fa, fi, fr, gl, he, hi, it, ja, ko, mr, nl, nn, no, pt
# languages: ro, ru, sv, tr, ur, vi, yue, zh, zu
# keys: https://www.assemblyai.com/dashboard/api-keys
# env: ASSEMBLYAI_API_KEY required secret: API key
# env: ASSEMBLYAI_BASE_URL optional url =wss://streaming.assemblyai.com/v3/ws: address
# stand-in: assemblyai ASSEMBLYAI_BASE_URL=ws://{}/v3/ws
# host: streaming.assemblyai.com
# region: with ASSEMBLYAI_BASE_URL=wss://streaming.eu.assemblyai.com/v3/ws https://www.assemblyai.com/docs/streaming/endpoints-and-data-zones
import os

from pipecat.services.assemblyai.stt import AssemblyAISTTService
from pipecat.transcriptions.language import Language


def build(language: str) -> AssemblyAISTTService:
    stt = AssemblyAISTTService(
        api_key=os.environ["ASSEMBLYAI_API_KEY"],
        api_endpoint_base_url=os.getenv(
            "ASSEMBLYAI_BASE_URL", "wss://streaming.assemblyai.com/v3/ws"
        ),
        settings=AssemblyAISTTService.Settings(  # when: language
            language_codes=[Language(language.split("-")[0])],  # when: language
        ),  # when: language
    )
    return stt
