# id: tts_ah
# label: Speechify
# names: speechify, speechify_tts
# keys: https://platform.speechify.ai/api-keys
# env: SPEECHIFY_API_KEY required secret: API key
# env: SPEECHIFY_VOICE_ID optional voice =geffen_32: voice id, from the voice library
import os

import aiohttp
from pipecat.services.speechify.tts import SpeechifyHttpTTSService
from pipecat.utils.types import NOT_GIVEN


def build(session: aiohttp.ClientSession) -> SpeechifyHttpTTSService:
    tts = SpeechifyHttpTTSService(
        api_key=os.environ["SPEECHIFY_API_KEY"],
        aiohttp_session=session,
        settings=SpeechifyHttpTTSService.Settings(
            voice=os.getenv("SPEECHIFY_VOICE_ID") or NOT_GIVEN
        ),
    )
    return tts
