# id: stt_af
# label: AssemblyAI Sync
# names: assemblyai_sync, assemblyai_sync_stt
# extras: assemblyai
# keys: https://www.assemblyai.com/dashboard/api-keys
# env: ASSEMBLYAI_API_KEY required secret: API key
# env: ASSEMBLYAI_SYNC_BASE_URL optional url =https://sync.assemblyai.com: address
# host: sync.assemblyai.com
import os

import aiohttp
from pipecat.services.assemblyai.stt import AssemblyAISyncSTTService


def build(if_set, session: aiohttp.ClientSession) -> AssemblyAISyncSTTService:
    stt = AssemblyAISyncSTTService(
        api_key=os.environ["ASSEMBLYAI_API_KEY"],
        **if_set(base_url="ASSEMBLYAI_SYNC_BASE_URL"),
        aiohttp_session=session,
    )
    return stt
