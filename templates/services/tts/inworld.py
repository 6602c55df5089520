# id: tts_s
# label: Inworld
# names: inworld, inworld_tts
# keys: https://platform.inworld.ai/api-keys
# env: INWORLD_API_KEY required secret: API key, the Base64 form
# env: INWORLD_VOICE_ID optional voice =Ashley: voice name
import os

from pipecat.services.inworld.tts import InworldTTSService
from pipecat.utils.types import NOT_GIVEN


def build() -> InworldTTSService:
    tts = InworldTTSService(
        api_key=os.environ["INWORLD_API_KEY"],
        settings=InworldTTSService.Settings(voice=os.getenv("INWORLD_VOICE_ID") or NOT_GIVEN),
    )
    return tts
