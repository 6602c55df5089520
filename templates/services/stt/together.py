# id: stt_ai
# label: Together AI
# names: together, together_stt
# extras: together
# keys: https://api.together.ai/settings/api-keys
# env: TOGETHER_API_KEY required secret: API key
import os

from pipecat.services.together.stt import TogetherSTTService


def build() -> TogetherSTTService:
    stt = TogetherSTTService(api_key=os.environ["TOGETHER_API_KEY"])
    return stt
