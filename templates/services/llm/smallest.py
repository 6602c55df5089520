# id: llm_y
# label: Smallest
# names: smallest, smallest_llm
# extras: smallest
# keys: https://app.smallest.ai/dashboard/api-keys
# env: SMALLEST_API_KEY required secret: API key
# env: SMALLEST_BASE_URL optional url =https://api.smallest.ai/waves/v1: address
# env: SMALLEST_MODEL optional model =electron: model id
# host: api.smallest.ai
import os

from pipecat.services.smallest.llm import SmallestLLMService
from pipecat.utils.types import NOT_GIVEN


def build(if_set, system_instruction: str) -> SmallestLLMService:
    llm = SmallestLLMService(
        api_key=os.environ["SMALLEST_API_KEY"],
        **if_set(base_url="SMALLEST_BASE_URL"),
        settings=SmallestLLMService.Settings(
            model=os.getenv("SMALLEST_MODEL") or NOT_GIVEN,
            system_instruction=system_instruction,
        ),
    )
    return llm
