# id: stt_m
# label: Fal (Wizper)
# names: fal, fal_stt, wizper
# extras: fal
# keys: https://fal.ai/dashboard/keys
# env: FAL_API_KEY required secret: API key
# host: fal.run
import os

import aiohttp
from pipecat.services.fal.stt import FalSTTService


def build(session: aiohttp.ClientSession) -> FalSTTService:
    stt = FalSTTService(
        api_key=os.environ["FAL_API_KEY"],
        aiohttp_session=session,
    )
    return stt
