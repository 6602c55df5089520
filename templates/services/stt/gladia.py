# id: stt_o
# label: Gladia
# names: gladia, gladia_stt
# extras: gladia
# keys: https://app.gladia.io/
# env: GLADIA_API_KEY required secret: API key
import os

from pipecat.services.gladia.stt import GladiaSTTService


def build() -> GladiaSTTService:
    stt = GladiaSTTService(api_key=os.environ["GLADIA_API_KEY"])
    return stt
