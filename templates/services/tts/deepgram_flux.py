# id: tts_i
# label: Deepgram Flux
# names: deepgram_flux, deepgram_flux_tts
# extras: deepgram
# keys: https://console.deepgram.com/
# env: DEEPGRAM_API_KEY required secret: API key
# env: DEEPGRAM_VOICE_ID optional voice =flux-heather-en: Flux voice id, also read by Deepgram Aura
import os

from pipecat.services.deepgram.flux.tts import DeepgramFluxTTSService
from pipecat.utils.types import NOT_GIVEN


def build() -> DeepgramFluxTTSService:
    tts = DeepgramFluxTTSService(
        api_key=os.environ["DEEPGRAM_API_KEY"],
        settings=DeepgramFluxTTSService.Settings(voice=os.getenv("DEEPGRAM_VOICE_ID") or NOT_GIVEN),
    )
    return tts
