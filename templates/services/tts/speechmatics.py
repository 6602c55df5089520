# id: tts_al
# label: Speechmatics
# names: speechmatics, speechmatics_tts
# extras: speechmatics
# license: MIT: speechmatics-agent-stt
# languages: en
# keys: https://portal.speechmatics.com/settings/api-keys
# env: SPEECHMATICS_API_KEY required secret: API key
# env: SPEECHMATICS_TTS_BASE_URL optional url =https://preview.tts.speechmatics.com: address
# env: SPEECHMATICS_VOICE_ID optional voice =sarah: voice name
# stand-in: speechmatics SPEECHMATICS_TTS_BASE_URL=http://{}
# host: preview.tts.speechmatics.com
import os

import aiohttp
from pipecat.services.speechmatics.tts import SpeechmaticsTTSService
from pipecat.utils.types import NOT_GIVEN


def build(session: aiohttp.ClientSession) -> SpeechmaticsTTSService:
    tts = SpeechmaticsTTSService(
        api_key=os.environ["SPEECHMATICS_API_KEY"],
        base_url=os.getenv("SPEECHMATICS_TTS_BASE_URL", "https://preview.tts.speechmatics.com"),
        aiohttp_session=session,
        settings=SpeechmaticsTTSService.Settings(
            voice=os.getenv("SPEECHMATICS_VOICE_ID", NOT_GIVEN)
        ),
    )
    return tts
