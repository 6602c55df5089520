# id: tts_s
# label: Inworld
# names: inworld, inworld_tts
# languages: ar, de, en, es, fr, he, hi, it, ja, ko, nl, pl, pt, ru, zh
# keys: https://platform.inworld.ai/api-keys
# env: INWORLD_API_KEY required secret: API key, the Base64 form
# env: INWORLD_TTS_BASE_URL optional url =wss://api.inworld.ai/tts/v1/voice:streamBidirectional: URL
# env: INWORLD_VOICE_ID optional voice =Ashley: voice name
# stand-in: inworld INWORLD_TTS_BASE_URL=ws://{}/tts/v1/voice:streamBidirectional
# host: api.inworld.ai
import os

from pipecat.services.inworld.tts import InworldTTSService
from pipecat.utils.types import NOT_GIVEN


def build(language: str) -> InworldTTSService:
    tts = InworldTTSService(
        api_key=os.environ["INWORLD_API_KEY"],
        url=os.getenv(
            "INWORLD_TTS_BASE_URL", "wss://api.inworld.ai/tts/v1/voice:streamBidirectional"
        ),
        settings=InworldTTSService.Settings(
            language=language,  # when: language
            voice=os.getenv("INWORLD_VOICE_ID", NOT_GIVEN),
        ),
    )
    return tts
