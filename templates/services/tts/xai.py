# id: tts_ai
# label: XAI
# names: xai, xai_tts
# extras: xai
# languages: ar, bn, de, en, es, fr, hi, id, it, ja, ko, pt, ru, tr, vi, zh
# keys: https://console.x.ai/
# env: XAI_API_KEY required secret: API key
# env: XAI_TTS_BASE_URL optional url =wss://api.x.ai/v1/tts: address
# env: XAI_VOICE_ID optional voice =eve: voice id
# stand-in: xai XAI_TTS_BASE_URL=ws://{}/v1/tts
# host: api.x.ai
import os

from pipecat.services.xai.tts import XAITTSService
from pipecat.utils.types import NOT_GIVEN


def build(language: str) -> XAITTSService:
    tts = XAITTSService(
        api_key=os.environ["XAI_API_KEY"],
        base_url=os.getenv("XAI_TTS_BASE_URL", "wss://api.x.ai/v1/tts"),
        settings=XAITTSService.Settings(
            language=language,  # when: language
            voice=os.getenv("XAI_VOICE_ID", NOT_GIVEN),
        ),
    )
    return tts
