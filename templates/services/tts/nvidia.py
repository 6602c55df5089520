# id: tts_x
# label: NVIDIA
# names: nvidia, nvidia_tts
# extras: nvidia
# license: MIT: nvidia-riva-client
# license: BSD-3-Clause: protobuf
# languages: de-DE, en-US, es-US, fr-FR, hi-IN, it-IT, ja-JP, ko-KR, pt-BR, vi-VN, zh-CN
# voices: fr-FR Magpie-Multilingual.FR-FR.Pascal
# keys: https://build.nvidia.com/settings/api-keys
# env: NVIDIA_API_KEY required secret unless NVIDIA_TTS_SERVER: API key
# env: NVIDIA_TTS_SERVER optional url =grpc.nvcf.nvidia.com:443: host:port of the gRPC server
# env: NVIDIA_USE_SSL optional id: false for a server without TLS
# env: NVIDIA_VOICE_ID optional voice =Magpie-Multilingual.EN-US.Aria: voice name
# host: grpc.nvcf.nvidia.com
import os

from pipecat.services.nvidia.tts import NvidiaTTSService
from pipecat.utils.types import NOT_GIVEN


def build(language: str) -> NvidiaTTSService:
    tts = NvidiaTTSService(
        api_key=os.getenv("NVIDIA_API_KEY"),
        server=os.getenv("NVIDIA_TTS_SERVER", "grpc.nvcf.nvidia.com:443"),
        use_ssl=os.getenv("NVIDIA_USE_SSL") != "false",
        settings=NvidiaTTSService.Settings(
            language=language,  # when: language
            voice=os.getenv("NVIDIA_VOICE_ID", NOT_GIVEN),
        ),
    )
    return tts
