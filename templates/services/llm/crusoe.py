# id: llm_g
# label: Crusoe
# names: crusoe, crusoe_llm
# extras: crusoe
# keys: https://console.crusoecloud.com/
# env: CRUSOE_API_KEY required secret: API key
# env: CRUSOE_MODEL optional model =openai/gpt-oss-120b: model id
import os

from pipecat.services.crusoe.llm import CrusoeLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> CrusoeLLMService:
    llm = CrusoeLLMService(
        api_key=os.environ["CRUSOE_API_KEY"],
        settings=CrusoeLLMService.Settings(
            model=os.getenv("CRUSOE_MODEL") or NOT_GIVEN,
            system_instruction=system_instruction,
        ),
    )
    return llm
