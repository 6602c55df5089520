# id: tts_h
# label: Deepgram
# names: deepgram, deepgram_tts
# extras: deepgram
# keys: https://console.deepgram.com/
# env: DEEPGRAM_API_KEY required secret: API key
# env: DEEPGRAM_VOICE_ID optional voice =aura-2-helena-en: Aura voice id, also read by Deepgram Flux
import os

from pipecat.services.deepgram.tts import DeepgramTTSService
from pipecat.utils.types import NOT_GIVEN


def build() -> DeepgramTTSService:
    tts = DeepgramTTSService(
        api_key=os.environ["DEEPGRAM_API_KEY"],
        settings=DeepgramTTSService.Settings(voice=os.getenv("DEEPGRAM_VOICE_ID") or NOT_GIVEN),
    )
    return tts
