# id: stt_ai
# label: Together AI
# names: together, together_stt
# extras: together
# languages: auto
# keys: https://api.together.ai/settings/api-keys
# env: TOGETHER_API_KEY required secret: API key
# env: TOGETHER_STT_BASE_URL optional url =wss://api.together.ai/v1: address
# host: api.together.ai
import os

from pipecat.services.together.stt import TogetherSTTService


def build() -> TogetherSTTService:
    stt = TogetherSTTService(
        api_key=os.environ["TOGETHER_API_KEY"],
        base_url=os.getenv("TOGETHER_STT_BASE_URL", "wss://api.together.ai/v1"),
    )
    return stt
