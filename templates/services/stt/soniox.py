# id: stt_z
# label: Soniox
# names: soniox, soniox_stt
# extras: soniox
# keys: https://console.soniox.com/
# env: SONIOX_API_KEY required secret: API key
import os

from pipecat.services.soniox.stt import SonioxSTTService


def build() -> SonioxSTTService:
    stt = SonioxSTTService(api_key=os.environ["SONIOX_API_KEY"])
    return stt
