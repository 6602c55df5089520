# id: stt_r
# label: Groq (Whisper)
# names: groq, groq_stt
# extras: groq
# keys: https://console.groq.com/keys
# env: GROQ_API_KEY required secret: API key
import os

from pipecat.services.groq.stt import GroqSTTService


def build() -> GroqSTTService:
    stt = GroqSTTService(api_key=os.environ["GROQ_API_KEY"])
    return stt
