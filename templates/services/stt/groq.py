# id: stt_r
# label: Groq (Whisper)
# names: groq, groq_stt
# extras: groq
# keys: https://console.groq.com/keys
# env: GROQ_API_KEY required secret: API key
# env: GROQ_STT_BASE_URL optional url =https://api.groq.com/openai/v1: address
# host: api.groq.com
import os

from pipecat.services.groq.stt import GroqSTTService


def build(if_set) -> GroqSTTService:
    stt = GroqSTTService(
        api_key=os.environ["GROQ_API_KEY"],
        **if_set(base_url="GROQ_STT_BASE_URL"),
    )
    return stt
