# id: llm_y
# label: Smallest
# names: smallest, smallest_llm
# extras: smallest
# keys: https://app.smallest.ai/dashboard/api-keys
# env: SMALLEST_API_KEY required secret: API key
# env: SMALLEST_BASE_URL optional url =https://api.smallest.ai/waves/v1: address
# env: SMALLEST_MODEL optional model =electron: model id
# stand-in: openai_chat SMALLEST_BASE_URL=http://{}/v1
# host: api.smallest.ai
import os

from pipecat.services.smallest.llm import SmallestLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> SmallestLLMService:
    llm = SmallestLLMService(
        api_key=os.environ["SMALLEST_API_KEY"],
        base_url=os.getenv("SMALLEST_BASE_URL", "https://api.smallest.ai/waves/v1"),
        settings=SmallestLLMService.Settings(
            model=os.getenv("SMALLEST_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
