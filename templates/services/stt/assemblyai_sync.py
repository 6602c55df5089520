# id: stt_af
# label: AssemblyAI Sync
# names: assemblyai_sync, assemblyai_sync_stt
# extras: assemblyai
# keys: https://www.assemblyai.com/dashboard/api-keys
# env: ASSEMBLYAI_API_KEY required secret: API key
import os

import aiohttp
from pipecat.services.assemblyai.stt import AssemblyAISyncSTTService


def build(session: aiohttp.ClientSession) -> AssemblyAISyncSTTService:
    stt = AssemblyAISyncSTTService(
        api_key=os.environ["ASSEMBLYAI_API_KEY"],
        aiohttp_session=session,
    )
    return stt
