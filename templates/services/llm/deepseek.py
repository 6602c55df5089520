# id: llm_h
# label: DeepSeek
# names: deepseek, deepseek_llm
# extras: deepseek
# keys: https://platform.deepseek.com/api_keys
# env: DEEPSEEK_API_KEY required secret: API key
# env: DEEPSEEK_BASE_URL optional url =https://api.deepseek.com/v1: address
# env: DEEPSEEK_MODEL optional model =deepseek-flash: model id
# stand-in: openai_chat DEEPSEEK_BASE_URL=http://{}/v1
# host: api.deepseek.com
import os

from pipecat.services.deepseek.llm import DeepSeekLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> DeepSeekLLMService:
    llm = DeepSeekLLMService(
        api_key=os.environ["DEEPSEEK_API_KEY"],
        base_url=os.getenv("DEEPSEEK_BASE_URL", "https://api.deepseek.com/v1"),
        settings=DeepSeekLLMService.Settings(
            model=os.getenv("DEEPSEEK_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
