# id: stt_u
# label: NVIDIA
# names: nvidia, nvidia_stt
# extras: nvidia
# license: MIT: nvidia-riva-client
# license: BSD-3-Clause: protobuf
# languages: en
# keys: https://build.nvidia.com/settings/api-keys
# env: NVIDIA_API_KEY required secret unless NVIDIA_STT_SERVER: API key
# env: NVIDIA_STT_SERVER optional url =grpc.nvcf.nvidia.com:443: host:port of the gRPC server
# env: NVIDIA_USE_SSL optional id: false for a server without TLS
# host: grpc.nvcf.nvidia.com
import os

from pipecat.services.nvidia.stt import NvidiaSTTService


def build() -> NvidiaSTTService:
    stt = NvidiaSTTService(
        api_key=os.getenv("NVIDIA_API_KEY"),
        server=os.getenv("NVIDIA_STT_SERVER", "grpc.nvcf.nvidia.com:443"),
        use_ssl=os.getenv("NVIDIA_USE_SSL") != "false",
    )
    return stt
