# id: tts_ag
# label: Soniox
# names: soniox, soniox_tts
# extras: soniox
# keys: https://console.soniox.com/
# env: SONIOX_API_KEY required secret: API key
# env: SONIOX_TTS_BASE_URL optional url =wss://tts-rt.soniox.com/tts-websocket: address
# env: SONIOX_VOICE_ID optional voice =Bryce: voice name
# host: tts-rt.soniox.com
import os

from pipecat.services.soniox.tts import SonioxTTSService
from pipecat.utils.types import NOT_GIVEN


def build(if_set) -> SonioxTTSService:
    tts = SonioxTTSService(
        api_key=os.environ["SONIOX_API_KEY"],
        **if_set(url="SONIOX_TTS_BASE_URL"),
        settings=SonioxTTSService.Settings(voice=os.getenv("SONIOX_VOICE_ID") or NOT_GIVEN),
    )
    return tts
