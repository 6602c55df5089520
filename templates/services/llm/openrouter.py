# id: llm_t
# label: OpenRouter
# names: openrouter, openrouter_llm
# extras: openrouter
# keys: https://openrouter.ai/settings/keys
# env: OPENROUTER_API_KEY required secret: API key
# env: OPENROUTER_BASE_URL optional url =https://openrouter.ai/api/v1: address
# env: OPENROUTER_MODEL optional model =openai/gpt-4.1: model id, provider/model
# stand-in: openai_chat OPENROUTER_BASE_URL=http://{}/v1
# host: openrouter.ai
import os

from pipecat.services.openrouter.llm import OpenRouterLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> OpenRouterLLMService:
    llm = OpenRouterLLMService(
        api_key=os.environ["OPENROUTER_API_KEY"],
        base_url=os.getenv("OPENROUTER_BASE_URL", "https://openrouter.ai/api/v1"),
        settings=OpenRouterLLMService.Settings(
            model=os.getenv("OPENROUTER_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
