# id: tts_am
# label: Together AI
# names: together, together_tts
# extras: together
# keys: https://api.together.ai/settings/api-keys
# env: TOGETHER_API_KEY required secret: API key
# env: TOGETHER_VOICE_ID optional voice =af_heart: voice name
import os

from pipecat.services.together.tts import TogetherTTSService
from pipecat.utils.types import NOT_GIVEN


def build() -> TogetherTTSService:
    tts = TogetherTTSService(
        api_key=os.environ["TOGETHER_API_KEY"],
        settings=TogetherTTSService.Settings(voice=os.getenv("TOGETHER_VOICE_ID") or NOT_GIVEN),
    )
    return tts
