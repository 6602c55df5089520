# id: tts_z
# label: OpenAI TTS
# names: openai, openai_tts
# extras: openai
# keys: https://platform.openai.com/api-keys
# env: OPENAI_API_KEY required secret: API key
# env: OPENAI_VOICE_ID optional voice =alloy: voice name
import os

from pipecat.services.openai.tts import OpenAITTSService
from pipecat.utils.types import NOT_GIVEN


def build() -> OpenAITTSService:
    tts = OpenAITTSService(
        api_key=os.environ["OPENAI_API_KEY"],
        sample_rate=24000,  # OpenAI's only rate
        settings=OpenAITTSService.Settings(voice=os.getenv("OPENAI_VOICE_ID") or NOT_GIVEN),
    )
    return tts
