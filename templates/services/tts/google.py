# id: tts_o
# label: Google TTS
# names: google, google_tts
# loop: yes
# extras: google
# languages: ar, bg, bn, cs, da, de, el, en, es, et, fi, fr, gu, he, hi, hr, hu, id, it, ja, kn, ko
# languages: lt, lv, ml, mr, nb, nl, no, pl, pt, ro, ru, sk, sl, sr, sv, sw, ta, te, th, tr, uk, ur
# languages: vi, zh
# keys: https://console.cloud.google.com/iam-admin/serviceaccounts
# env: GOOGLE_APPLICATION_CREDENTIALS optional path: JSON key file; unset: the login of the machine
# env: GOOGLE_CREDENTIALS_JSON optional secret: text of that file in single quotes, in its place
# env: GOOGLE_VOICE_ID optional voice =en-US-Chirp3-HD-Charon: voice of the language, for Gemini too
# host: texttospeech.googleapis.com
import os

from pipecat.services.google.tts import GoogleTTSService
from pipecat.utils.types import NOT_GIVEN


def build(language: str) -> GoogleTTSService:
    tts = GoogleTTSService(
        credentials=os.getenv("GOOGLE_CREDENTIALS_JSON"),
        credentials_path=os.getenv("GOOGLE_APPLICATION_CREDENTIALS"),
        settings=GoogleTTSService.Settings(
            language=language,  # when: language
            voice=os.getenv("GOOGLE_VOICE_ID", NOT_GIVEN),
        ),
    )
    return tts
