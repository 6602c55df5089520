# id: stt_u
# label: NVIDIA
# names: nvidia, nvidia_stt
# extras: nvidia
# keys: https://build.nvidia.com/settings/api-keys
# env: NVIDIA_API_KEY required secret: API key
import os

from pipecat.services.nvidia.stt import NvidiaSTTService


def build() -> NvidiaSTTService:
    stt = NvidiaSTTService(api_key=os.environ["NVIDIA_API_KEY"])
    return stt
