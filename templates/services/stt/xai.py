# id: stt_ad
# label: XAI
# names: xai, xai_stt
# extras: xai
# keys: https://console.x.ai/
# env: XAI_API_KEY required secret: API key
# env: XAI_STT_BASE_URL optional url =wss://api.x.ai/v1/stt: address
# host: api.x.ai
import os

from pipecat.services.xai.stt import XAISTTService


def build(if_set) -> XAISTTService:
    stt = XAISTTService(
        api_key=os.environ["XAI_API_KEY"],
        **if_set(ws_url="XAI_STT_BASE_URL"),
    )
    return stt
