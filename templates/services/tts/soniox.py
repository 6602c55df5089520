# id: tts_ag
# label: Soniox
# names: soniox, soniox_tts
# extras: soniox
# languages: af, ar, az, be, bg, bn, bs, ca, cs, cy, da, de, el, en, es, et, eu, fa, fi, fr, gl, gu
# languages: he, hi, hr, hu, id, is, it, ja, kk, kn, ko, lt, lv, mk, ml, mr, ms, nb, nl, no, pa, pl
# languages: pt, ro, ru, sk, sl, sq, sr, su, sv, sw, ta, te, th, tl, tr, uk, ur, uz, vi, zh
# keys: https://console.soniox.com/
# env: SONIOX_API_KEY required secret: API key
# env: SONIOX_TTS_BASE_URL optional url =wss://tts-rt.soniox.com/tts-websocket: address
# env: SONIOX_VOICE_ID optional voice =Bryce: voice name
# stand-in: soniox SONIOX_TTS_BASE_URL=ws://{}/tts-websocket
# host: tts-rt.soniox.com
import os

from pipecat.services.soniox.tts import SonioxTTSService
from pipecat.utils.types import NOT_GIVEN


def build(language: str) -> SonioxTTSService:
    tts = SonioxTTSService(
        api_key=os.environ["SONIOX_API_KEY"],
        url=os.getenv("SONIOX_TTS_BASE_URL", "wss://tts-rt.soniox.com/tts-websocket"),
        settings=SonioxTTSService.Settings(
            language=language,  # when: language
            voice=os.getenv("SONIOX_VOICE_ID", NOT_GIVEN),
        ),
    )
    return tts
