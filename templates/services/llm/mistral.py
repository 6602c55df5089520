# id: llm_o
# label: Mistral
# names: mistral, mistral_llm
# extras: mistral
# license: Apache-2.0: mistralai
# keys: https://console.mistral.ai/api-keys
# env: MISTRAL_API_KEY required secret: API key
# env: MISTRAL_BASE_URL optional url =https://api.mistral.ai/v1: address
# env: MISTRAL_MODEL optional model =mistral-small-latest: model id
# stand-in: openai_chat MISTRAL_BASE_URL=http://{}/v1
# host: api.mistral.ai
# region: with MISTRAL_BASE_URL=https://api.eu.mistral.ai/v1 https://docs.mistral.ai/studio/regional-inference
import os

from pipecat.services.mistral.llm import MistralLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> MistralLLMService:
    llm = MistralLLMService(
        api_key=os.environ["MISTRAL_API_KEY"],
        base_url=os.getenv("MISTRAL_BASE_URL", "https://api.mistral.ai/v1"),
        settings=MistralLLMService.Settings(
            model=os.getenv("MISTRAL_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
