# id: tts_r
# label: Hume TTS
# names: hume, hume_tts
# extras: hume
# license: MIT: hume
# languages: auto
# keys: https://platform.hume.ai/settings/keys
# env: HUME_API_KEY required secret: API key
# env: HUME_VOICE_ID required voice: voice id, not the name, from the voice library
# host: api.hume.ai
import os

from pipecat.services.hume.tts import HumeTTSService


def build() -> HumeTTSService:
    tts = HumeTTSService(
        api_key=os.environ["HUME_API_KEY"],
        settings=HumeTTSService.Settings(voice=os.environ["HUME_VOICE_ID"]),
    )
    return tts
