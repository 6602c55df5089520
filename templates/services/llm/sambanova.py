# id: llm_w
# label: SambaNova
# names: sambanova, sambanova_llm
# extras: sambanova
# keys: https://cloud.sambanova.ai/apis
# env: SAMBANOVA_API_KEY required secret: API key
# env: SAMBANOVA_BASE_URL optional url =https://api.sambanova.ai/v1: address
# env: SAMBANOVA_MODEL optional model =Meta-Llama-3.3-70B-Instruct: model id
# stand-in: openai_chat SAMBANOVA_BASE_URL=http://{}/v1
# host: api.sambanova.ai
import os

from pipecat.services.sambanova.llm import SambaNovaLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> SambaNovaLLMService:
    llm = SambaNovaLLMService(
        api_key=os.environ["SAMBANOVA_API_KEY"],
        base_url=os.getenv("SAMBANOVA_BASE_URL", "https://api.sambanova.ai/v1"),
        settings=SambaNovaLLMService.Settings(
            model=os.getenv("SAMBANOVA_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
