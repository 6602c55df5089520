# id: stt_c
# label: AssemblyAI
# names: assemblyai, assemblyai_stt
# extras: assemblyai
# keys: https://www.assemblyai.com/dashboard/api-keys
# env: ASSEMBLYAI_API_KEY required secret: API key
import os

from pipecat.services.assemblyai.stt import AssemblyAISTTService


def build() -> AssemblyAISTTService:
    stt = AssemblyAISTTService(api_key=os.environ["ASSEMBLYAI_API_KEY"])
    return stt
