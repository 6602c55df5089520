# id: tts_g
# label: Bland
# names: bland, bland_tts
# extras: bland
# languages: voice
# keys: https://app.bland.ai/
# env: BLAND_API_KEY required secret: API key
# env: BLAND_BASE_URL optional url =wss://api.bland.ai/v2/tts/ws: address
# env: BLAND_VOICE_ID optional voice =29158307-9893-4149-8a75-bc9ce313d64e: voice id
# stand-in: bland untimed BLAND_BASE_URL=ws://{}/v2/tts/ws
# host: api.bland.ai
import os

from pipecat.services.bland.tts import BlandTTSService
from pipecat.utils.types import NOT_GIVEN


def build() -> BlandTTSService:
    tts = BlandTTSService(
        api_key=os.environ["BLAND_API_KEY"],
        url=os.getenv("BLAND_BASE_URL", "wss://api.bland.ai/v2/tts/ws"),
        settings=BlandTTSService.Settings(voice=os.getenv("BLAND_VOICE_ID", NOT_GIVEN)),
    )
    return tts
