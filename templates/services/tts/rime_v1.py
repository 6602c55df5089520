# id: tts_ak
# label: Rime V1
# names: rime_v1, rime_v1_tts
# extras: rime
# license: Apache-2.0: rime-api
# languages: ar, de, en, es, fr, hi, it, ja, pt
# keys: https://app.rime.ai/tokens/
# env: RIME_API_KEY required secret: API key
# env: RIME_V1_BASE_URL optional url: address, wss://...
# env: RIME_MODEL optional model =coda: model id, coda or mistv3
# env: RIME_VOICE_ID required voice: speaker name, from the voice library
# stand-in: rime_v1 untimed RIME_V1_BASE_URL=ws://{}/ws
# host: coda.api.rime.ai: with RIME_MODEL=mistv3, mist.api.rime.ai
import os

from pipecat.services.rime.tts_v1 import RimeV1TTSService


def build(language: str) -> RimeV1TTSService:
    tts = RimeV1TTSService(
        api_key=os.environ["RIME_API_KEY"],
        websocket_url=os.getenv("RIME_V1_BASE_URL"),
        settings=RimeV1TTSService.Settings(
            language=language,  # when: language
            model=os.getenv("RIME_MODEL", "coda"),
            voice=os.environ["RIME_VOICE_ID"],
        ),
    )
    return tts
