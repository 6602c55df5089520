# id: llm_e
# label: Baseten
# names: baseten, baseten_llm
# extras: baseten
# keys: https://app.baseten.co/settings/api_keys
# env: BASETEN_API_KEY required secret: API key
# env: BASETEN_BASE_URL optional url =https://inference.baseten.co/v1: address
# env: BASETEN_MODEL optional model =zai-org/GLM-5.3: model id, from the model library
# stand-in: openai_chat BASETEN_BASE_URL=http://{}/v1
# host: inference.baseten.co
import os

from pipecat.services.baseten.llm import BasetenLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> BasetenLLMService:
    llm = BasetenLLMService(
        api_key=os.environ["BASETEN_API_KEY"],
        base_url=os.getenv("BASETEN_BASE_URL", "https://inference.baseten.co/v1"),
        settings=BasetenLLMService.Settings(
            model=os.getenv("BASETEN_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
