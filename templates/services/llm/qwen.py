# id: llm_v
# label: Qwen
# names: qwen, qwen_llm
# extras: qwen
# keys: https://modelstudio.console.alibabacloud.com/
# env: QWEN_API_KEY required secret: API key
# env: QWEN_BASE_URL optional url =https://dashscope-intl.aliyuncs.com/compatible-mode/v1: address
# env: QWEN_MODEL optional model =qwen-plus: model id
# host: dashscope-intl.aliyuncs.com
import os

from pipecat.services.qwen.llm import QwenLLMService
from pipecat.utils.types import NOT_GIVEN


def build(if_set, system_instruction: str) -> QwenLLMService:
    llm = QwenLLMService(
        api_key=os.environ["QWEN_API_KEY"],
        **if_set(base_url="QWEN_BASE_URL"),
        settings=QwenLLMService.Settings(
            model=os.getenv("QWEN_MODEL") or NOT_GIVEN,
            system_instruction=system_instruction,
        ),
    )
    return llm
