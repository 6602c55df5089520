# id: llm_g
# label: Crusoe
# names: crusoe, crusoe_llm
# extras: crusoe
# keys: https://console.crusoecloud.com/
# env: CRUSOE_API_KEY required secret: API key
# env: CRUSOE_BASE_URL optional url =https://api.inference.crusoecloud.com/v1/: address
# env: CRUSOE_MODEL optional model =openai/gpt-oss-120b: model id
# stand-in: openai_chat CRUSOE_BASE_URL=http://{}/v1
# host: api.inference.crusoecloud.com
import os

from pipecat.services.crusoe.llm import CrusoeLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> CrusoeLLMService:
    llm = CrusoeLLMService(
        api_key=os.environ["CRUSOE_API_KEY"],
        base_url=os.getenv("CRUSOE_BASE_URL", "https://api.inference.crusoecloud.com/v1/"),
        settings=CrusoeLLMService.Settings(
            model=os.getenv("CRUSOE_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
