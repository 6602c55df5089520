# id: stt_b
# label: OpenAI
# names: openai, openai_stt, openai_whisper
# extras: openai
# keys: https://platform.openai.com/api-keys
# env: OPENAI_API_KEY required secret unless OPENAI_STT_BASE_URL: API key
# env: OPENAI_STT_BASE_URL optional url else OPENAI_BASE_URL: address for speech to text alone
# env: OPENAI_BASE_URL optional url =https://api.openai.com/v1: address of the API or one like it
# host: api.openai.com
import os

from pipecat.services.openai.stt import OpenAISTTService


def build() -> OpenAISTTService:
    stt = OpenAISTTService(
        api_key=os.getenv("OPENAI_API_KEY") or "none",
        base_url=os.getenv("OPENAI_STT_BASE_URL")
        or os.getenv("OPENAI_BASE_URL")
        or "https://api.openai.com/v1",
    )
    return stt
