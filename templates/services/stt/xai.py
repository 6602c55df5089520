# id: stt_ad
# label: XAI
# names: xai, xai_stt
# extras: xai
# languages: ar, bn, de, en, es, fr, hi, id, it, ja, ko, pt, ru, tr, vi, zh
# keys: https://console.x.ai/
# env: XAI_API_KEY required secret: API key
# env: XAI_STT_BASE_URL optional url =wss://api.x.ai/v1/stt: address
# host: api.x.ai
import os

from pipecat.services.xai.stt import XAISTTService


def build(language: str) -> XAISTTService:
    stt = XAISTTService(
        api_key=os.environ["XAI_API_KEY"],
        ws_url=os.getenv("XAI_STT_BASE_URL", "wss://api.x.ai/v1/stt"),
        settings=XAISTTService.Settings(language=language),  # when: language
    )
    return stt
