# id: stt_h
# label: Deepgram Flux
# names: deepgram_flux, deepgram_flux_stt
# extras: deepgram
# keys: https://console.deepgram.com/
# env: DEEPGRAM_API_KEY required secret unless DEEPGRAM_FLUX_STT_BASE_URL: API key
# env: DEEPGRAM_FLUX_STT_BASE_URL optional url =wss://api.deepgram.com/v2/listen: address
# host: api.deepgram.com
import os

from pipecat.services.deepgram.flux.stt import DeepgramFluxSTTService


def build(if_set) -> DeepgramFluxSTTService:
    stt = DeepgramFluxSTTService(
        api_key=os.getenv("DEEPGRAM_API_KEY") or "none",
        **if_set(url="DEEPGRAM_FLUX_STT_BASE_URL"),
    )
    return stt
