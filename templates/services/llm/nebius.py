# id: llm_aa
# label: Nebius
# names: nebius, nebius_llm
# extras: nebius
# keys: https://tokenfactory.nebius.com/
# env: NEBIUS_API_KEY required secret: API key
# env: NEBIUS_BASE_URL optional url =https://api.tokenfactory.nebius.com/v1/: address
# env: NEBIUS_MODEL optional model =Qwen/Qwen3-30B-A3B-Instruct-2507: model id
# stand-in: openai_chat NEBIUS_BASE_URL=http://{}/v1
# host: api.tokenfactory.nebius.com
import os

from pipecat.services.nebius.llm import NebiusLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> NebiusLLMService:
    llm = NebiusLLMService(
        api_key=os.environ["NEBIUS_API_KEY"],
        base_url=os.getenv("NEBIUS_BASE_URL", "https://api.tokenfactory.nebius.com/v1/"),
        settings=NebiusLLMService.Settings(
            model=os.getenv("NEBIUS_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
