# id: stt_p
# label: Google Speech-to-Text
# names: google, google_stt
# loop: yes
# extras: google
# license: Apache-2.0: google-cloud-speech, google-cloud-texttospeech, google-genai
# languages: af, am, ar, az, bg, bn, bs, ca, cs, da, de, el, en, es, et, eu, fa, fi, fil, fr, gl, gu
# languages: he, hi, hr, hu, hy, id, is, it, ja, jv, ka, kk, km, kn, ko, lo, lt, lv, mk, ml, mn, mr
# languages: ms, my, nb, ne, nl, no, pa, pl, pt, ro, ru, si, sk, sl, sq, sr, su, sv, sw, ta, te, th
# languages: tr, uk, ur, uz, vi, yue, zh, zu
# keys: https://console.cloud.google.com/iam-admin/serviceaccounts
# env: GOOGLE_APPLICATION_CREDENTIALS optional path: JSON key file; unset: the login of the machine
# env: GOOGLE_CREDENTIALS_JSON optional secret: text of that file in single quotes, in its place
# host: speech.googleapis.com
# region: at eu-speech.googleapis.com https://cloud.google.com/speech-to-text/docs/endpoints
import os

from pipecat.services.google.stt import GoogleSTTService
from pipecat.transcriptions.language import Language


def build(language: str) -> GoogleSTTService:
    stt = GoogleSTTService(
        credentials=os.getenv("GOOGLE_CREDENTIALS_JSON"),
        credentials_path=os.getenv("GOOGLE_APPLICATION_CREDENTIALS"),
        settings=GoogleSTTService.Settings(languages=[Language(language)]),  # when: language
    )
    return stt
