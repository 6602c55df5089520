# id: tts_n
# label: Gemini TTS
# names: gemini, gemini_tts
# extras: google
# keys: https://console.cloud.google.com/iam-admin/serviceaccounts
# env: GOOGLE_APPLICATION_CREDENTIALS optional path: JSON key file, else the login of the machine
# env: GOOGLE_CREDENTIALS_JSON optional secret: that file's text in single quotes, used in its place
# env: GOOGLE_VOICE_ID optional voice =Kore: voice name, also read by other Google services
# host: texttospeech.googleapis.com
import os

from pipecat.services.google.tts import GeminiTTSService
from pipecat.utils.types import NOT_GIVEN


def build() -> GeminiTTSService:
    tts = GeminiTTSService(
        credentials=os.getenv("GOOGLE_CREDENTIALS_JSON") or None,
        credentials_path=os.getenv("GOOGLE_APPLICATION_CREDENTIALS") or None,
        sample_rate=24000,  # Gemini's only rate
        settings=GeminiTTSService.Settings(voice=os.getenv("GOOGLE_VOICE_ID") or NOT_GIVEN),
    )
    return tts
