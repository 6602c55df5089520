# id: tts_x
# label: NVIDIA
# names: nvidia, nvidia_tts
# extras: nvidia
# keys: https://build.nvidia.com/settings/api-keys
# env: NVIDIA_API_KEY required secret: API key
# env: NVIDIA_VOICE_ID optional voice =Magpie-Multilingual.EN-US.Aria: voice name
import os

from pipecat.services.nvidia.tts import NvidiaTTSService
from pipecat.utils.types import NOT_GIVEN


def build() -> NvidiaTTSService:
    tts = NvidiaTTSService(
        api_key=os.environ["NVIDIA_API_KEY"],
        settings=NvidiaTTSService.Settings(voice=os.getenv("NVIDIA_VOICE_ID") or NOT_GIVEN),
    )
    return tts
