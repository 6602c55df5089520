# id: stt_w
# label: OpenAI Realtime
# names: openai_realtime, openai_realtime_stt
# extras: openai
# keys: https://platform.openai.com/api-keys
# env: OPENAI_API_KEY required secret: API key
# env: OPENAI_REALTIME_BASE_URL optional url =wss://api.openai.com/v1/realtime: address
# host: api.openai.com
import os

from pipecat.services.openai.stt import OpenAIRealtimeSTTService


def build(if_set) -> OpenAIRealtimeSTTService:
    stt = OpenAIRealtimeSTTService(
        api_key=os.environ["OPENAI_API_KEY"],
        **if_set(base_url="OPENAI_REALTIME_BASE_URL"),
    )
    return stt
