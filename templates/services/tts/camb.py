# id: tts_f
# label: Camb
# names: camb, camb_tts
# extras: camb
# license: MIT: camb-sdk
# languages: ar, bn, cs, de, el, en, es, fi, fr, hi, id, it, ja, kn, ko, ml, mr, nl, pa, pl, pt, ro
# languages: ru, ta, te, th, tr, uk, vi, zh
# keys: https://studio.camb.ai/
# env: CAMB_API_KEY required secret: API key
# env: CAMB_VOICE_ID optional voice =147320: voice id, a number
# host: client.camb.ai
import os

from pipecat.services.camb.tts import CambTTSService


def build(language: str) -> CambTTSService:
    tts = CambTTSService(
        api_key=os.environ["CAMB_API_KEY"],
        settings=CambTTSService.Settings(
            language=language,  # when: language
            voice=int(os.getenv("CAMB_VOICE_ID", "147320")),
        ),
    )
    return tts
