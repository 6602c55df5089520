# id: tts_n
# label: Gemini TTS
# names: gemini, gemini_tts
# loop: yes
# extras: google
# license: Apache-2.0: google-cloud-speech, google-cloud-texttospeech, google-genai
# languages: af, am, ar, az, be, bg, bn, ca, ceb, cs, da, de, el, en, es, et, eu, fa, fi, fil, fr
# languages: gl, gu, he, hi, hr, ht, hu, hy, id, is, it, ja, jv, ka, kn, ko, kok, la, lb, lo, lt, lv
# languages: mai, mg, mk, ml, mn, mr, ms, my, nb, ne, nl, nn, no, or, pa, pl, ps, pt, ro, ru, sd, si
# languages: sk, sl, sq, sr, sv, sw, ta, te, th, tr, uk, ur, vi, zh
# voices: any
# keys: https://console.cloud.google.com/iam-admin/serviceaccounts
# env: GOOGLE_APPLICATION_CREDENTIALS optional path: JSON key file; unset: the login of the machine
# env: GOOGLE_CREDENTIALS_JSON optional secret: text of that file in single quotes, in its place
# env: GOOGLE_VOICE_ID optional voice =Kore: voice name, also read by other Google services
# host: texttospeech.googleapis.com
import os

from pipecat.services.google.tts import GeminiTTSService
from pipecat.utils.types import NOT_GIVEN


def build(language: str) -> GeminiTTSService:
    tts = GeminiTTSService(
        credentials=os.getenv("GOOGLE_CREDENTIALS_JSON"),
        credentials_path=os.getenv("GOOGLE_APPLICATION_CREDENTIALS"),
        sample_rate=24000,  # Gemini's only rate
        settings=GeminiTTSService.Settings(
            language=language,  # when: language
            voice=os.getenv("GOOGLE_VOICE_ID", NOT_GIVEN),
        ),
    )
    return tts
