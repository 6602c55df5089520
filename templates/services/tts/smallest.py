# id: tts_af
# label: Smallest
# names: smallest, smallest_tts
# extras: smallest
# keys: https://app.smallest.ai/dashboard/api-keys
# env: SMALLEST_API_KEY required secret: API key
# env: SMALLEST_VOICE_ID optional voice =meher: voice id, from the voice library
import os

from pipecat.services.smallest.tts import SmallestTTSService
from pipecat.utils.types import NOT_GIVEN


def build() -> SmallestTTSService:
    tts = SmallestTTSService(
        api_key=os.environ["SMALLEST_API_KEY"],
        settings=SmallestTTSService.Settings(voice=os.getenv("SMALLEST_VOICE_ID") or NOT_GIVEN),
    )
    return tts
