# id: stt_n
# label: Gemini Transcribe Live
# names: gemini, gemini_stt
# extras: google
# license: Apache-2.0: google-cloud-speech, google-cloud-texttospeech, google-genai
# languages: auto
# keys: https://aistudio.google.com/apikey
# env: GOOGLE_API_KEY required secret: API key
# env: GOOGLE_GEMINI_BASE_URL optional url library: address of the API, or of a compatible one
# host: generativelanguage.googleapis.com
import os

from pipecat.services.google.gemini_live.stt import GeminiSTTService


def build() -> GeminiSTTService:
    stt = GeminiSTTService(api_key=os.environ["GOOGLE_API_KEY"])
    return stt
