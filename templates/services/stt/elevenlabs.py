# id: stt_k
# label: ElevenLabs
# names: elevenlabs, elevenlabs_stt
# extras: elevenlabs
# keys: https://elevenlabs.io/app/settings/api-keys
# env: ELEVENLABS_API_KEY required secret: API key
import os

import aiohttp
from pipecat.services.elevenlabs.stt import ElevenLabsSTTService


def build(session: aiohttp.ClientSession) -> ElevenLabsSTTService:
    stt = ElevenLabsSTTService(
        api_key=os.environ["ELEVENLABS_API_KEY"],
        aiohttp_session=session,
    )
    return stt
