# id: tts_am
# label: Together AI
# names: together, together_tts
# extras: together
# keys: https://api.together.ai/settings/api-keys
# env: TOGETHER_API_KEY required secret: API key
# env: TOGETHER_TTS_BASE_URL optional url =wss://api.together.ai/v1/audio/speech/websocket: address
# env: TOGETHER_VOICE_ID optional voice =af_heart: voice name
# host: api.together.ai
import os

from pipecat.services.together.tts import TogetherTTSService
from pipecat.utils.types import NOT_GIVEN


def build(if_set) -> TogetherTTSService:
    tts = TogetherTTSService(
        api_key=os.environ["TOGETHER_API_KEY"],
        **if_set(url="TOGETHER_TTS_BASE_URL"),
        settings=TogetherTTSService.Settings(voice=os.getenv("TOGETHER_VOICE_ID") or NOT_GIVEN),
    )
    return tts
