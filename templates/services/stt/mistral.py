# id: stt_t
# label: Mistral
# names: mistral, mistral_stt
# extras: mistral
# keys: https://console.mistral.ai/api-keys
# env: MISTRAL_API_KEY required secret: API key
import os

from pipecat.services.mistral.stt import MistralSTTService


def build() -> MistralSTTService:
    stt = MistralSTTService(api_key=os.environ["MISTRAL_API_KEY"])
    return stt
