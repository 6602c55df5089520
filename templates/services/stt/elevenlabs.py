# id: stt_k
# label: ElevenLabs
# names: elevenlabs, elevenlabs_stt
# extras: elevenlabs
# keys: https://elevenlabs.io/app/settings/api-keys
# env: ELEVENLABS_API_KEY required secret: API key
# env: ELEVENLABS_STT_BASE_URL optional url =https://api.elevenlabs.io: address
# host: api.elevenlabs.io
import os

import aiohttp
from pipecat.services.elevenlabs.stt import ElevenLabsSTTService


def build(if_set, session: aiohttp.ClientSession) -> ElevenLabsSTTService:
    stt = ElevenLabsSTTService(
        api_key=os.environ["ELEVENLABS_API_KEY"],
        **if_set(base_url="ELEVENLABS_STT_BASE_URL"),
        aiohttp_session=session,
    )
    return stt
