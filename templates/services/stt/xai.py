# id: stt_ad
# label: XAI
# names: xai, xai_stt
# extras: xai
# keys: https://console.x.ai/
# env: XAI_API_KEY required secret: API key
import os

from pipecat.services.xai.stt import XAISTTService


def build() -> XAISTTService:
    stt = XAISTTService(api_key=os.environ["XAI_API_KEY"])
    return stt
