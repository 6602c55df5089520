# id: llm_l
# label: Grok
# names: xai, xai_llm, grok
# extras: xai
# keys: https://console.x.ai/
# env: XAI_API_KEY required secret: API key
# env: XAI_BASE_URL optional url =https://api.x.ai/v1: address
# env: XAI_MODEL optional model =grok-4.20-non-reasoning: model id
# stand-in: openai_chat XAI_BASE_URL=http://{}/v1
# host: api.x.ai
import os

from pipecat.services.xai.llm import GrokLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> GrokLLMService:
    llm = GrokLLMService(
        api_key=os.environ["XAI_API_KEY"],
        base_url=os.getenv("XAI_BASE_URL", "https://api.x.ai/v1"),
        settings=GrokLLMService.Settings(
            model=os.getenv("XAI_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
