# id: llm_z
# label: Together AI
# names: together, together_llm
# extras: together
# keys: https://api.together.ai/settings/api-keys
# env: TOGETHER_API_KEY required secret: API key
# env: TOGETHER_BASE_URL optional url =https://api.together.xyz/v1: address
# env: TOGETHER_MODEL optional model =zai-org/GLM-5.2: model id
# stand-in: openai_chat TOGETHER_BASE_URL=http://{}/v1
# host: api.together.xyz
import os

from pipecat.services.together.llm import TogetherLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> TogetherLLMService:
    llm = TogetherLLMService(
        api_key=os.environ["TOGETHER_API_KEY"],
        base_url=os.getenv("TOGETHER_BASE_URL", "https://api.together.xyz/v1"),
        settings=TogetherLLMService.Settings(
            model=os.getenv("TOGETHER_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
