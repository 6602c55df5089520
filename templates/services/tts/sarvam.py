# id: tts_ae
# label: Sarvam
# names: sarvam, sarvam_tts
# keys: https://dashboard.sarvam.ai/
# env: SARVAM_API_KEY required secret: API key
# env: SARVAM_TTS_BASE_URL optional url =wss://api.sarvam.ai/text-to-speech/ws: address
# env: SARVAM_VOICE_ID optional voice =shubh: speaker name
# host: api.sarvam.ai
import os

from pipecat.services.sarvam.tts import SarvamTTSService
from pipecat.utils.types import NOT_GIVEN


def build(if_set) -> SarvamTTSService:
    tts = SarvamTTSService(
        api_key=os.environ["SARVAM_API_KEY"],
        **if_set(url="SARVAM_TTS_BASE_URL"),
        settings=SarvamTTSService.Settings(voice=os.getenv("SARVAM_VOICE_ID") or NOT_GIVEN),
    )
    return tts
