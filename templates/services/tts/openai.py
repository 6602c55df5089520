# id: tts_z
# label: OpenAI TTS
# names: openai, openai_tts
# extras: openai
# license: BSD-3-Clause: httpx
# languages: auto
# keys: https://platform.openai.com/api-keys
# env: OPENAI_API_KEY required secret unless OPENAI_TTS_BASE_URL: API key
# env: OPENAI_TTS_BASE_URL optional url else OPENAI_BASE_URL: address, for text to speech only
# env: OPENAI_BASE_URL optional url library =https://api.openai.com/v1: address of a compatible API
# env: OPENAI_VOICE_ID optional voice =alloy: voice name
# stand-in: openai OPENAI_TTS_BASE_URL=http://{}/v1
# host: api.openai.com
import os

from pipecat.services.openai.tts import OpenAITTSService
from pipecat.utils.types import NOT_GIVEN


def build() -> OpenAITTSService:
    tts = OpenAITTSService(
        api_key=os.getenv("OPENAI_API_KEY", "none"),
        base_url=os.getenv("OPENAI_TTS_BASE_URL"),
        sample_rate=24000,  # OpenAI's only rate
        settings=OpenAITTSService.Settings(voice=os.getenv("OPENAI_VOICE_ID", NOT_GIVEN)),
    )
    return tts
