# id: tts_ai
# label: XAI
# names: xai, xai_tts
# extras: xai
# keys: https://console.x.ai/
# env: XAI_API_KEY required secret: API key
# env: XAI_TTS_BASE_URL optional url =wss://api.x.ai/v1/tts: address
# env: XAI_VOICE_ID optional voice =eve: voice id
# host: api.x.ai
import os

from pipecat.services.xai.tts import XAITTSService
from pipecat.utils.types import NOT_GIVEN


def build(if_set) -> XAITTSService:
    tts = XAITTSService(
        api_key=os.environ["XAI_API_KEY"],
        **if_set(base_url="XAI_TTS_BASE_URL"),
        settings=XAITTSService.Settings(voice=os.getenv("XAI_VOICE_ID") or NOT_GIVEN),
    )
    return tts
