# id: stt_s
# label: Meta
# names: meta, meta_stt
# extras: meta
# keys: https://dev.meta.ai/api-keys
# env: META_API_KEY required secret: API key
import os

from pipecat.services.meta.stt import MetaSTTService


def build() -> MetaSTTService:
    stt = MetaSTTService(api_key=os.environ["META_API_KEY"])
    return stt
