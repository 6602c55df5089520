# id: tts_q
# label: Groq TTS
# names: groq, groq_tts
# extras: groq
# license: Apache-2.0: groq
# languages: en
# keys: https://console.groq.com/keys
# env: GROQ_API_KEY required secret: API key
# env: GROQ_VOICE_ID optional voice =autumn: voice name
# host: api.groq.com
import os

from pipecat.services.groq.tts import GroqTTSService
from pipecat.utils.types import NOT_GIVEN


def build() -> GroqTTSService:
    tts = GroqTTSService(
        api_key=os.environ["GROQ_API_KEY"],
        settings=GroqTTSService.Settings(voice=os.getenv("GROQ_VOICE_ID", NOT_GIVEN)),
    )
    return tts
