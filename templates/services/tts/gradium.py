# id: tts_p
# label: Gradium TTS
# names: gradium, gradium_tts
# extras: gradium
# languages: voice
# keys: https://studio.gradium.ai/
# env: GRADIUM_API_KEY required secret: API key
# env: GRADIUM_TTS_BASE_URL optional url =wss://api.gradium.ai/api/speech/tts: address
# env: GRADIUM_VOICE_ID optional voice =_6Aslh2DxfmnRLmP: id, from the voice library
# stand-in: gradium GRADIUM_TTS_BASE_URL=ws://{}/api/speech/tts
# host: api.gradium.ai
import os

from pipecat.services.gradium.tts import GradiumTTSService
from pipecat.utils.types import NOT_GIVEN


def build() -> GradiumTTSService:
    tts = GradiumTTSService(
        api_key=os.environ["GRADIUM_API_KEY"],
        url=os.getenv("GRADIUM_TTS_BASE_URL", "wss://api.gradium.ai/api/speech/tts"),
        settings=GradiumTTSService.Settings(voice=os.getenv("GRADIUM_VOICE_ID", NOT_GIVEN)),
    )
    return tts
