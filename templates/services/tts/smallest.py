# id: tts_af
# label: Smallest
# names: smallest, smallest_tts
# extras: smallest
# keys: https://app.smallest.ai/dashboard/api-keys
# env: SMALLEST_API_KEY required secret: API key
# env: SMALLEST_TTS_BASE_URL optional url =wss://api.smallest.ai: address
# env: SMALLEST_VOICE_ID optional voice =meher: voice id, from the voice library
# host: api.smallest.ai
import os

from pipecat.services.smallest.tts import SmallestTTSService
from pipecat.utils.types import NOT_GIVEN


def build(if_set) -> SmallestTTSService:
    tts = SmallestTTSService(
        api_key=os.environ["SMALLEST_API_KEY"],
        **if_set(base_url="SMALLEST_TTS_BASE_URL"),
        settings=SmallestTTSService.Settings(voice=os.getenv("SMALLEST_VOICE_ID") or NOT_GIVEN),
    )
    return tts
