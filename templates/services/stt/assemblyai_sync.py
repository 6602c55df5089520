# id: stt_af
# label: AssemblyAI Sync
# names: assemblyai_sync, assemblyai_sync_stt
# extras: assemblyai
# languages: af, ar, ca, da, de, en, es, et, fa, fi, fr, gl, he, hi, it, ja, ko, mr, nl, nn, no, pt
# languages: ro, ru, sv, tr, ur, vi, yue, zh, zu
# keys: https://www.assemblyai.com/dashboard/api-keys
# env: ASSEMBLYAI_API_KEY required secret: API key
# env: ASSEMBLYAI_SYNC_BASE_URL optional url =https://sync.assemblyai.com: address
# host: sync.assemblyai.com
import os

import aiohttp
from pipecat.services.assemblyai.stt import AssemblyAISyncSTTService


def build(language: str, session: aiohttp.ClientSession) -> AssemblyAISyncSTTService:
    stt = AssemblyAISyncSTTService(
        api_key=os.environ["ASSEMBLYAI_API_KEY"],
        base_url=os.getenv("ASSEMBLYAI_SYNC_BASE_URL", "https://sync.assemblyai.com"),
        aiohttp_session=session,
        settings=AssemblyAISyncSTTService.Settings(language=language),  # when: language
    )
    return stt
