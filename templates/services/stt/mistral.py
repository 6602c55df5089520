# id: stt_t
# label: Mistral
# names: mistral, mistral_stt
# extras: mistral
# license: Apache-2.0: mistralai
# languages: auto
# keys: https://console.mistral.ai/api-keys
# env: MISTRAL_API_KEY required secret: API key
# env: MISTRAL_STT_BASE_URL optional url: address, such as https://api.mistral.ai
# host: api.mistral.ai
import os

from pipecat.services.mistral.stt import MistralSTTService


def build() -> MistralSTTService:
    stt = MistralSTTService(
        api_key=os.environ["MISTRAL_API_KEY"],
        base_url=os.getenv("MISTRAL_STT_BASE_URL"),
    )
    return stt
