# id: tts_ah
# label: Speechify
# names: speechify, speechify_tts
# keys: https://platform.speechify.ai/api-keys
# env: SPEECHIFY_API_KEY required secret: API key
# env: SPEECHIFY_BASE_URL optional url =https://api.speechify.ai: address
# env: SPEECHIFY_VOICE_ID optional voice =geffen_32: voice id, from the voice library
# host: api.speechify.ai
import os

import aiohttp
from pipecat.services.speechify.tts import SpeechifyHttpTTSService
from pipecat.utils.types import NOT_GIVEN


def build(if_set, session: aiohttp.ClientSession) -> SpeechifyHttpTTSService:
    tts = SpeechifyHttpTTSService(
        api_key=os.environ["SPEECHIFY_API_KEY"],
        **if_set(base_url="SPEECHIFY_BASE_URL"),
        aiohttp_session=session,
        settings=SpeechifyHttpTTSService.Settings(
            voice=os.getenv("SPEECHIFY_VOICE_ID") or NOT_GIVEN
        ),
    )
    return tts
