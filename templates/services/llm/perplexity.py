# id: llm_u
# label: Perplexity
# names: perplexity, perplexity_llm
# extras: perplexity
# keys: https://console.perplexity.ai/
# env: PERPLEXITY_API_KEY required secret: API key
# env: PERPLEXITY_BASE_URL optional url =https://api.perplexity.ai/v1: address
# env: PERPLEXITY_MODEL optional model =openai/gpt-5.6-luna: model id
# host: api.perplexity.ai
import os

from pipecat.services.perplexity.llm import PerplexityAgentHttpLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> PerplexityAgentHttpLLMService:
    llm = PerplexityAgentHttpLLMService(
        api_key=os.environ["PERPLEXITY_API_KEY"],
        base_url=os.getenv("PERPLEXITY_BASE_URL", "https://api.perplexity.ai/v1"),
        settings=PerplexityAgentHttpLLMService.Settings(
            model=os.getenv("PERPLEXITY_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
