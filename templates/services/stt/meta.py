# id: stt_s
# label: Meta
# names: meta, meta_stt
# extras: meta
# languages: ar, bn, de, en, es, fr, he, hi, id, it, ja, kn, ko, mr, ms, nl, pl, pt, ta, te, th, tl
# languages: tr, vi, zh
# keys: https://dev.meta.ai/api-keys
# env: META_API_KEY required secret: API key
# env: META_BASE_URL optional url =wss://api.meta.ai/v1/asr/realtime: address
# host: api.meta.ai
import os

from pipecat.services.meta.stt import MetaSTTService


def build(language: str) -> MetaSTTService:
    stt = MetaSTTService(
        api_key=os.environ["META_API_KEY"],
        url=os.getenv("META_BASE_URL", "wss://api.meta.ai/v1/asr/realtime"),
        settings=MetaSTTService.Settings(language=language),  # when: language
    )
    return stt
