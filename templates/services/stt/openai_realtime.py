# id: stt_w
# label: OpenAI Realtime
# names: openai_realtime, openai_realtime_stt
# extras: openai
# keys: https://platform.openai.com/api-keys
# env: OPENAI_API_KEY required secret: API key
import os

from pipecat.services.openai.stt import OpenAIRealtimeSTTService


def build() -> OpenAIRealtimeSTTService:
    stt = OpenAIRealtimeSTTService(api_key=os.environ["OPENAI_API_KEY"])
    return stt
