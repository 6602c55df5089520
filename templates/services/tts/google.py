# id: tts_o
# label: Google TTS
# names: google, google_tts
# loop: yes
# extras: google
# license: Apache-2.0: google-cloud-speech, google-cloud-texttospeech, google-genai
# languages: ar, bg, bn, cs, da, de, el, en, es, et, fi, fr, gu, he, hi, hr, hu, id, it, ja, kn, ko
# languages: lt, lv, ml, mr, nb, nl, no, pl, pt, ro, ru, sk, sl, sr, sv, sw, ta, te, th, tr, uk, ur
# languages: vi, zh
# voices: ar ar-XA-Chirp3-HD-Charon, bg bg-BG-Chirp3-HD-Charon, bn bn-IN-Chirp3-HD-Charon
# voices: cs cs-CZ-Chirp3-HD-Charon, da da-DK-Chirp3-HD-Charon, de de-DE-Chirp3-HD-Charon
# voices: el el-GR-Chirp3-HD-Charon, es es-ES-Chirp3-HD-Charon, et et-EE-Chirp3-HD-Charon
# voices: fi fi-FI-Chirp3-HD-Charon, fr fr-FR-Chirp3-HD-Charon, gu gu-IN-Chirp3-HD-Charon
# voices: he he-IL-Chirp3-HD-Charon, hi hi-IN-Chirp3-HD-Charon, hr hr-HR-Chirp3-HD-Charon
# voices: hu hu-HU-Chirp3-HD-Charon, id id-ID-Chirp3-HD-Charon, it it-IT-Chirp3-HD-Charon
# voices: ja ja-JP-Chirp3-HD-Charon, kn kn-IN-Chirp3-HD-Charon, ko ko-KR-Chirp3-HD-Charon
# voices: lt lt-LT-Chirp3-HD-Charon, lv lv-LV-Chirp3-HD-Charon, ml ml-IN-Chirp3-HD-Charon
# voices: mr mr-IN-Chirp3-HD-Charon, nb nb-NO-Chirp3-HD-Charon, no nb-NO-Chirp3-HD-Charon
# voices: nl nl-NL-Chirp3-HD-Charon, pl pl-PL-Chirp3-HD-Charon, pt pt-BR-Chirp3-HD-Charon
# voices: ro ro-RO-Chirp3-HD-Charon, ru ru-RU-Chirp3-HD-Charon, sk sk-SK-Chirp3-HD-Charon
# voices: sl sl-SI-Chirp3-HD-Charon, sr sr-RS-Chirp3-HD-Charon, sv sv-SE-Chirp3-HD-Charon
# voices: sw sw-KE-Chirp3-HD-Charon, ta ta-IN-Chirp3-HD-Charon, te te-IN-Chirp3-HD-Charon
# voices: th th-TH-Chirp3-HD-Charon, tr tr-TR-Chirp3-HD-Charon, uk uk-UA-Chirp3-HD-Charon
# voices: ur ur-IN-Chirp3-HD-Charon, vi vi-VN-Chirp3-HD-Charon, zh cmn-CN-Chirp3-HD-Charon
# voices: en-AU en-AU-Chirp3-HD-Charon, en-GB en-GB-Chirp3-HD-Charon, en-IN en-IN-Chirp3-HD-Charon
# voices: es-US es-US-Chirp3-HD-Charon, fr-CA fr-CA-Chirp3-HD-Charon, nl-BE nl-BE-Chirp3-HD-Charon
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
