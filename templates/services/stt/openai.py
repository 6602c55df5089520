# id: stt_b
# label: OpenAI
# names: openai, openai_stt, openai_whisper
# extras: openai
# keys: https://platform.openai.com/api-keys
# env: OPENAI_API_KEY required secret: API key
import os

from pipecat.services.openai.stt import OpenAISTTService


def build() -> OpenAISTTService:
    stt = OpenAISTTService(api_key=os.environ["OPENAI_API_KEY"])
    return stt
