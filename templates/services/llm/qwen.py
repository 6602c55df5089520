# id: llm_v
# label: Qwen
# names: qwen, qwen_llm
# extras: qwen
# keys: https://modelstudio.console.alibabacloud.com/
# env: QWEN_API_KEY required secret: API key
# env: QWEN_BASE_URL optional url =https://dashscope-intl.aliyuncs.com/compatible-mode/v1: address
# env: QWEN_MODEL optional model =qwen-plus: model id
# stand-in: openai_chat QWEN_BASE_URL=http://{}/v1
# host: dashscope-intl.aliyuncs.com
import os

from pipecat.services.qwen.llm import QwenLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> QwenLLMService:
    llm = QwenLLMService(
        api_key=os.environ["QWEN_API_KEY"],
        base_url=os.getenv(
            "QWEN_BASE_URL", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1"
        ),
        settings=QwenLLMService.Settings(
            model=os.getenv("QWEN_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
