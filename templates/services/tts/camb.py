# id: tts_f
# label: Camb
# names: camb, camb_tts
# extras: camb
# keys: https://studio.camb.ai/
# env: CAMB_API_KEY required secret: API key
# env: CAMB_VOICE_ID optional voice =147320: voice id, a number
# host: client.camb.ai
import os

from pipecat.services.camb.tts import CambTTSService


def build() -> CambTTSService:
    tts = CambTTSService(
        api_key=os.environ["CAMB_API_KEY"],
        settings=CambTTSService.Settings(voice=int(os.getenv("CAMB_VOICE_ID") or 147320)),
    )
    return tts
