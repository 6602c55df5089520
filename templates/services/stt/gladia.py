# id: stt_o
# label: Gladia
# names: gladia, gladia_stt
# extras: gladia
# keys: https://app.gladia.io/
# env: GLADIA_API_KEY required secret: API key
# env: GLADIA_BASE_URL optional url =https://api.gladia.io/v2/live: address
# host: api.gladia.io
import os

from pipecat.services.gladia.stt import GladiaSTTService


def build(if_set) -> GladiaSTTService:
    stt = GladiaSTTService(
        api_key=os.environ["GLADIA_API_KEY"],
        **if_set(url="GLADIA_BASE_URL"),
    )
    return stt
