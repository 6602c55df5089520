# id: tts_ah
# label: Speechify
# names: speechify, speechify_tts
# languages: de, en, es, fr, it, pt
# keys: https://platform.speechify.ai/api-keys
# env: SPEECHIFY_API_KEY required secret: API key
# env: SPEECHIFY_BASE_URL optional url =https://api.speechify.ai: address
# env: SPEECHIFY_VOICE_ID optional voice =geffen_32: id, from the voice library
# stand-in: speechify SPEECHIFY_BASE_URL=http://{}
# host: api.speechify.ai
import os

import aiohttp
from pipecat.services.speechify.tts import SpeechifyHttpTTSService
from pipecat.utils.types import NOT_GIVEN


def build(session: aiohttp.ClientSession, language: str) -> SpeechifyHttpTTSService:
    tts = SpeechifyHttpTTSService(
        api_key=os.environ["SPEECHIFY_API_KEY"],
        base_url=os.getenv("SPEECHIFY_BASE_URL", "https://api.speechify.ai"),
        aiohttp_session=session,
        settings=SpeechifyHttpTTSService.Settings(
            language=language,  # when: language
            voice=os.getenv("SPEECHIFY_VOICE_ID", NOT_GIVEN),
        ),
    )
    return tts
