# id: stt_z
# label: Soniox
# names: soniox, soniox_stt
# extras: soniox
# keys: https://console.soniox.com/
# env: SONIOX_API_KEY required secret: API key
# env: SONIOX_STT_BASE_URL optional url =wss://stt-rt.soniox.com/transcribe-websocket: address
# host: stt-rt.soniox.com
import os

from pipecat.services.soniox.stt import SonioxSTTService


def build(if_set) -> SonioxSTTService:
    stt = SonioxSTTService(
        api_key=os.environ["SONIOX_API_KEY"],
        **if_set(url="SONIOX_STT_BASE_URL"),
    )
    return stt
