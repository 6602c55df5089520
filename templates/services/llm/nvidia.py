# id: llm_q
# label: NVIDIA
# names: nvidia, nvidia_llm
# extras: nvidia
# keys: https://build.nvidia.com/settings/api-keys
# env: NVIDIA_API_KEY required secret: API key
# env: NVIDIA_MODEL optional model =nvidia/nemotron-3.5-super-vl-120b-a12b: model id
import os

from pipecat.services.nvidia.llm import NvidiaLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> NvidiaLLMService:
    llm = NvidiaLLMService(
        api_key=os.environ["NVIDIA_API_KEY"],
        settings=NvidiaLLMService.Settings(
            model=os.getenv("NVIDIA_MODEL") or NOT_GIVEN,
            system_instruction=system_instruction,
        ),
    )
    return llm
