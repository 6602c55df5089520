# id: stt_h
# label: Deepgram Flux
# names: deepgram_flux, deepgram_flux_stt
# turns: Settings(eot_threshold=0.85, eot_timeout_ms=8000)
# extras: deepgram
# license: MIT: deepgram-sdk
# languages: de, en, es, fr, hi, it, ja, nl, pt, ru
# keys: https://console.deepgram.com/
# env: DEEPGRAM_API_KEY required secret unless DEEPGRAM_FLUX_STT_BASE_URL: API key
# env: DEEPGRAM_FLUX_STT_BASE_URL optional url =wss://api.deepgram.com/v2/listen: address
# stand-in: deepgram_flux DEEPGRAM_FLUX_STT_BASE_URL=ws://{}/v2/listen
# host: api.deepgram.com
# region: with DEEPGRAM_FLUX_STT_BASE_URL=wss://api.eu.deepgram.com/v2/listen https://developers.deepgram.com/reference/regional-endpoints
import os

from pipecat.services.deepgram.flux.stt import DeepgramFluxSTTService
from pipecat.transcriptions.language import Language


def build(language: str) -> DeepgramFluxSTTService:
    stt = DeepgramFluxSTTService(
        api_key=os.getenv("DEEPGRAM_API_KEY", "none"),
        url=os.getenv("DEEPGRAM_FLUX_STT_BASE_URL", "wss://api.deepgram.com/v2/listen"),
        settings=DeepgramFluxSTTService.Settings(  # when: language
            model="flux-general-multi",  # when: language
            language_hints=[Language(language.split("-")[0])],  # when: language
        ),  # when: language
    )
    return stt
