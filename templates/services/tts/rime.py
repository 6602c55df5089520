# id: tts_ad
# label: Rime
# names: rime, rime_tts
# extras: rime
# license: Apache-2.0: rime-api
# languages: ar, de, en, es, fr, hi, it, ja, pt
# keys: https://app.rime.ai/tokens/
# env: RIME_API_KEY required secret: API key
# env: RIME_BASE_URL optional url =wss://users-ws.rime.ai/ws3: address
# env: RIME_VOICE_ID required voice: speaker name, from the voice library
# stand-in: rime RIME_BASE_URL=ws://{}/ws3
# host: users-ws.rime.ai
import os

from pipecat.services.rime.tts import RimeTTSService


def build(language: str) -> RimeTTSService:
    tts = RimeTTSService(
        api_key=os.environ["RIME_API_KEY"],
        url=os.getenv("RIME_BASE_URL", "wss://users-ws.rime.ai/ws3"),
        settings=RimeTTSService.Settings(
            language=language,  # when: language
            voice=os.environ["RIME_VOICE_ID"],
        ),
    )
    return tts
