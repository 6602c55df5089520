# id: tts_af
# label: Smallest
# names: smallest, smallest_tts
# extras: smallest
# languages: ar, bn, de, el, en, es, fi, fr, gu, hi, id, it, ja, kn, ko, ml, mr, ms, nl, no, or, pa
# languages: pl, pt, ru, sv, ta, te, tr, vi, zh
# keys: https://app.smallest.ai/dashboard/api-keys
# env: SMALLEST_API_KEY required secret: API key
# env: SMALLEST_TTS_BASE_URL optional url =wss://api.smallest.ai: address
# env: SMALLEST_VOICE_ID optional voice =meher: id, from the voice library
# stand-in: smallest SMALLEST_TTS_BASE_URL=ws://{}
# host: api.smallest.ai
import os

from pipecat.services.smallest.tts import SmallestTTSService
from pipecat.utils.types import NOT_GIVEN


def build(language: str) -> SmallestTTSService:
    tts = SmallestTTSService(
        api_key=os.environ["SMALLEST_API_KEY"],
        base_url=os.getenv("SMALLEST_TTS_BASE_URL", "wss://api.smallest.ai"),
        settings=SmallestTTSService.Settings(
            language=language,  # when: language
            voice=os.getenv("SMALLEST_VOICE_ID", NOT_GIVEN),
        ),
    )
    return tts
