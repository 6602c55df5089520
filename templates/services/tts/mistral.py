# id: tts_v
# label: Mistral
# names: mistral, mistral_tts
# extras: mistral
# license: Apache-2.0: mistralai
# languages: voice
# keys: https://console.mistral.ai/api-keys
# env: MISTRAL_API_KEY required secret: API key
# env: MISTRAL_VOICE_ID required voice: voice id, from the list of voices
# host: api.mistral.ai
import os

from pipecat.services.mistral.tts import MistralTTSService


def build() -> MistralTTSService:
    tts = MistralTTSService(
        api_key=os.environ["MISTRAL_API_KEY"],
        sample_rate=24000,  # Mistral's only rate
        settings=MistralTTSService.Settings(voice=os.environ["MISTRAL_VOICE_ID"]),
    )
    return tts
