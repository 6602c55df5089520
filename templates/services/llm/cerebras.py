# id: llm_f
# label: Cerebras
# names: cerebras, cerebras_llm
# extras: cerebras
# keys: https://cloud.cerebras.ai/
# env: CEREBRAS_API_KEY required secret: API key
# env: CEREBRAS_BASE_URL optional url =https://api.cerebras.ai/v1: address
# env: CEREBRAS_MODEL optional model =gpt-oss-120b: model id
# stand-in: openai_chat CEREBRAS_BASE_URL=http://{}/v1
# host: api.cerebras.ai
import os

from pipecat.services.cerebras.llm import CerebrasLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> CerebrasLLMService:
    llm = CerebrasLLMService(
        api_key=os.environ["CEREBRAS_API_KEY"],
        base_url=os.getenv("CEREBRAS_BASE_URL", "https://api.cerebras.ai/v1"),
        settings=CerebrasLLMService.Settings(
            model=os.getenv("CEREBRAS_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
