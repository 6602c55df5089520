# id: tts_al
# label: Speechmatics
# names: speechmatics, speechmatics_tts
# extras: speechmatics
# keys: https://portal.speechmatics.com/settings/api-keys
# env: SPEECHMATICS_API_KEY required secret: API key
# env: SPEECHMATICS_TTS_BASE_URL optional url =https://preview.tts.speechmatics.com: address
# env: SPEECHMATICS_VOICE_ID optional voice =sarah: voice name
# host: preview.tts.speechmatics.com
import os

import aiohttp
from pipecat.services.speechmatics.tts import SpeechmaticsTTSService
from pipecat.utils.types import NOT_GIVEN


def build(if_set, session: aiohttp.ClientSession) -> SpeechmaticsTTSService:
    tts = SpeechmaticsTTSService(
        api_key=os.environ["SPEECHMATICS_API_KEY"],
        **if_set(base_url="SPEECHMATICS_TTS_BASE_URL"),
        aiohttp_session=session,
        settings=SpeechmaticsTTSService.Settings(
            voice=os.getenv("SPEECHMATICS_VOICE_ID") or NOT_GIVEN
        ),
    )
    return tts
