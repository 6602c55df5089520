# id: llm_q
# label: NVIDIA
# names: nvidia, nvidia_llm
# extras: nvidia
# license: MIT: nvidia-riva-client
# license: BSD-3-Clause: protobuf
# keys: https://build.nvidia.com/settings/api-keys
# env: NVIDIA_API_KEY required secret unless NVIDIA_BASE_URL: API key
# env: NVIDIA_BASE_URL optional url =https://integrate.api.nvidia.com/v1: address
# env: NVIDIA_MODEL optional model =nvidia/nemotron-3.5-super-vl-120b-a12b: model id
# stand-in: openai_chat NVIDIA_BASE_URL=http://{}/v1
# host: integrate.api.nvidia.com
import os

from pipecat.services.nvidia.llm import NvidiaLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> NvidiaLLMService:
    llm = NvidiaLLMService(
        api_key=os.getenv("NVIDIA_API_KEY"),
        base_url=os.getenv("NVIDIA_BASE_URL", "https://integrate.api.nvidia.com/v1"),
        settings=NvidiaLLMService.Settings(
            model=os.getenv("NVIDIA_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
