# id: stt_y
# label: Smallest
# names: smallest, smallest_stt
# extras: smallest
# languages: bg, bn, cs, da, de, en, es, et, fi, fr, gu, hi, hu, it, kn, lt, lv, ml, mr, mt, nl, or
# languages: pa, pl, pt, ro, ru, sk, sv, ta, te, uk
# keys: https://app.smallest.ai/dashboard/api-keys
# env: SMALLEST_API_KEY required secret: API key
# env: SMALLEST_STT_BASE_URL optional url =wss://api.smallest.ai: address
# host: api.smallest.ai
import os

from pipecat.services.smallest.stt import SmallestSTTService


def build(language: str) -> SmallestSTTService:
    stt = SmallestSTTService(
        api_key=os.environ["SMALLEST_API_KEY"],
        base_url=os.getenv("SMALLEST_STT_BASE_URL", "wss://api.smallest.ai"),
        settings=SmallestSTTService.Settings(language=language),  # when: language
    )
    return stt
