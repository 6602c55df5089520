# id: stt_c
# label: AssemblyAI
# names: assemblyai, assemblyai_stt
# extras: assemblyai
# keys: https://www.assemblyai.com/dashboard/api-keys
# env: ASSEMBLYAI_API_KEY required secret: API key
# env: ASSEMBLYAI_BASE_URL optional url =wss://streaming.assemblyai.com/v3/ws: address
# host: streaming.assemblyai.com
import os

from pipecat.services.assemblyai.stt import AssemblyAISTTService


def build(if_set) -> AssemblyAISTTService:
    stt = AssemblyAISTTService(
        api_key=os.environ["ASSEMBLYAI_API_KEY"],
        **if_set(api_endpoint_base_url="ASSEMBLYAI_BASE_URL"),
    )
    return stt
