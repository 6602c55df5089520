# id: tts_i
# label: Deepgram Flux
# names: deepgram_flux, deepgram_flux_tts
# extras: deepgram
# license: MIT: deepgram-sdk
# languages: en
# keys: https://console.deepgram.com/
# env: DEEPGRAM_API_KEY required secret unless DEEPGRAM_FLUX_TTS_BASE_URL: API key
# env: DEEPGRAM_FLUX_TTS_BASE_URL optional url =wss://api.deepgram.com/v2/speak: address
# env: DEEPGRAM_VOICE_ID optional voice =flux-heather-en: Flux voice id, also read by Deepgram Aura
# stand-in: deepgram_flux untimed DEEPGRAM_FLUX_TTS_BASE_URL=ws://{}/v2/speak
# host: api.deepgram.com
import os

from pipecat.services.deepgram.flux.tts import DeepgramFluxTTSService
from pipecat.utils.types import NOT_GIVEN


def build() -> DeepgramFluxTTSService:
    tts = DeepgramFluxTTSService(
        api_key=os.getenv("DEEPGRAM_API_KEY", "none"),
        url=os.getenv("DEEPGRAM_FLUX_TTS_BASE_URL", "wss://api.deepgram.com/v2/speak"),
        settings=DeepgramFluxTTSService.Settings(voice=os.getenv("DEEPGRAM_VOICE_ID", NOT_GIVEN)),
    )
    return tts
