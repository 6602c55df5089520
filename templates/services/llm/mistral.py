# id: llm_o
# label: Mistral
# names: mistral, mistral_llm
# extras: mistral
# keys: https://console.mistral.ai/api-keys
# env: MISTRAL_API_KEY required secret: API key
# env: MISTRAL_BASE_URL optional url =https://api.mistral.ai/v1: address
# env: MISTRAL_MODEL optional model =mistral-small-latest: model id
# host: api.mistral.ai
import os

from pipecat.services.mistral.llm import MistralLLMService
from pipecat.utils.types import NOT_GIVEN


def build(if_set, system_instruction: str) -> MistralLLMService:
    llm = MistralLLMService(
        api_key=os.environ["MISTRAL_API_KEY"],
        **if_set(base_url="MISTRAL_BASE_URL"),
        settings=MistralLLMService.Settings(
            model=os.getenv("MISTRAL_MODEL") or NOT_GIVEN,
            system_instruction=system_instruction,
        ),
    )
    return llm
