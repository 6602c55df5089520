# id: llm_i
# label: Fireworks AI
# names: fireworks, fireworks_llm
# extras: fireworks
# keys: https://app.fireworks.ai/settings/users/api-keys
# env: FIREWORKS_API_KEY required secret: API key
# env: FIREWORKS_BASE_URL optional url =https://api.fireworks.ai/inference/v1: address
# env: FIREWORKS_MODEL optional model =accounts/fireworks/models/nemotron-3-ultra-nvfp4: model path
# stand-in: openai_chat FIREWORKS_BASE_URL=http://{}/v1
# host: api.fireworks.ai
import os

from pipecat.services.fireworks.llm import FireworksLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> FireworksLLMService:
    llm = FireworksLLMService(
        api_key=os.environ["FIREWORKS_API_KEY"],
        base_url=os.getenv("FIREWORKS_BASE_URL", "https://api.fireworks.ai/inference/v1"),
        settings=FireworksLLMService.Settings(
            model=os.getenv("FIREWORKS_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
