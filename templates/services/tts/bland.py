# id: tts_g
# label: Bland
# names: bland, bland_tts
# extras: bland
# keys: https://app.bland.ai/
# env: BLAND_API_KEY required secret: API key
# env: BLAND_VOICE_ID optional voice =29158307-9893-4149-8a75-bc9ce313d64e: voice id
import os

from pipecat.services.bland.tts import BlandTTSService
from pipecat.utils.types import NOT_GIVEN


def build() -> BlandTTSService:
    tts = BlandTTSService(
        api_key=os.environ["BLAND_API_KEY"],
        settings=BlandTTSService.Settings(voice=os.getenv("BLAND_VOICE_ID") or NOT_GIVEN),
    )
    return tts
