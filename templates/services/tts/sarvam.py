# id: tts_ae
# label: Sarvam
# names: sarvam, sarvam_tts
# languages: bn, en-IN, gu, hi, kn, ml, mr, or, pa, ta, te
# keys: https://dashboard.sarvam.ai/
# env: SARVAM_API_KEY required secret: API key
# env: SARVAM_TTS_BASE_URL optional url =wss://api.sarvam.ai/text-to-speech/ws: address
# env: SARVAM_VOICE_ID optional voice =shubh: speaker name
# stand-in: sarvam untimed SARVAM_TTS_BASE_URL=ws://{}/text-to-speech/ws
# host: api.sarvam.ai
import os

from pipecat.services.sarvam.tts import SarvamTTSService
from pipecat.utils.types import NOT_GIVEN


def build(language: str) -> SarvamTTSService:
    tts = SarvamTTSService(
        api_key=os.environ["SARVAM_API_KEY"],
        url=os.getenv("SARVAM_TTS_BASE_URL", "wss://api.sarvam.ai/text-to-speech/ws"),
        settings=SarvamTTSService.Settings(
            language=language,  # when: language
            voice=os.getenv("SARVAM_VOICE_ID", NOT_GIVEN),
        ),
    )
    return tts
