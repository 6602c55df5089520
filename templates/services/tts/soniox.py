# id: tts_ag
# label: Soniox
# names: soniox, soniox_tts
# extras: soniox
# keys: https://console.soniox.com/
# env: SONIOX_API_KEY required secret: API key
# env: SONIOX_VOICE_ID optional voice =Bryce: voice name
import os

from pipecat.services.soniox.tts import SonioxTTSService
from pipecat.utils.types import NOT_GIVEN


def build() -> SonioxTTSService:
    tts = SonioxTTSService(
        api_key=os.environ["SONIOX_API_KEY"],
        settings=SonioxTTSService.Settings(voice=os.getenv("SONIOX_VOICE_ID") or NOT_GIVEN),
    )
    return tts
