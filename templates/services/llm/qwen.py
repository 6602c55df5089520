# id: llm_v
# label: Qwen
# names: qwen, qwen_llm
# extras: qwen
# keys: https://modelstudio.console.alibabacloud.com/
# env: QWEN_API_KEY required secret: API key
# env: QWEN_MODEL optional model =qwen-plus: model id
import os

from pipecat.services.qwen.llm import QwenLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> QwenLLMService:
    llm = QwenLLMService(
        api_key=os.environ["QWEN_API_KEY"],
        settings=QwenLLMService.Settings(
            model=os.getenv("QWEN_MODEL") or NOT_GIVEN,
            system_instruction=system_instruction,
        ),
    )
    return llm
