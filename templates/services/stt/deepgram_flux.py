# id: stt_h
# label: Deepgram Flux
# names: deepgram_flux, deepgram_flux_stt
# extras: deepgram
# keys: https://console.deepgram.com/
# env: DEEPGRAM_API_KEY required secret: API key
import os

from pipecat.services.deepgram.flux.stt import DeepgramFluxSTTService


def build() -> DeepgramFluxSTTService:
    stt = DeepgramFluxSTTService(api_key=os.environ["DEEPGRAM_API_KEY"])
    return stt
