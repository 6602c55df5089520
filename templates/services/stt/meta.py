# id: stt_s
# label: Meta
# names: meta, meta_stt
# extras: meta
# keys: https://dev.meta.ai/api-keys
# env: META_API_KEY required secret: API key
# env: META_BASE_URL optional url =wss://api.meta.ai/v1/asr/realtime: address
# host: api.meta.ai
import os

from pipecat.services.meta.stt import MetaSTTService


def build(if_set) -> MetaSTTService:
    stt = MetaSTTService(
        api_key=os.environ["META_API_KEY"],
        **if_set(url="META_BASE_URL"),
    )
    return stt
