# id: tts_o
# label: Google TTS
# names: google, google_tts
# extras: google
# keys: https://console.cloud.google.com/iam-admin/serviceaccounts
# env: GOOGLE_APPLICATION_CREDENTIALS optional path: JSON key file, else the login of the machine
# env: GOOGLE_CREDENTIALS_JSON optional secret: that file's text in single quotes, used in its place
# env: GOOGLE_VOICE_ID optional voice =en-US-Chirp3-HD-Charon: voice, also read by Gemini services
# host: texttospeech.googleapis.com
import os

from pipecat.services.google.tts import GoogleTTSService
from pipecat.utils.types import NOT_GIVEN


def build() -> GoogleTTSService:
    tts = GoogleTTSService(
        credentials=os.getenv("GOOGLE_CREDENTIALS_JSON") or None,
        credentials_path=os.getenv("GOOGLE_APPLICATION_CREDENTIALS") or None,
        settings=GoogleTTSService.Settings(voice=os.getenv("GOOGLE_VOICE_ID") or NOT_GIVEN),
    )
    return tts
