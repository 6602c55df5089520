# id: tts_am
# label: Together AI
# names: together, together_tts
# extras: together
# languages: en, es, fr, hi, it, ja, pt, zh
# voices: es ef_dora, fr ff_siwis, hi hf_alpha, it if_sara, ja jf_alpha, pt pf_dora, zh zf_xiaobei
# keys: https://api.together.ai/settings/api-keys
# env: TOGETHER_API_KEY required secret: API key
# env: TOGETHER_TTS_BASE_URL optional url =wss://api.together.ai/v1/audio/speech/websocket: address
# env: TOGETHER_VOICE_ID optional voice =af_heart: voice name, such as ff_siwis for French
# stand-in: together untimed TOGETHER_TTS_BASE_URL=ws://{}/v1/audio/speech/websocket
# host: api.together.ai
import os

from pipecat.services.together.tts import TogetherTTSService
from pipecat.utils.types import NOT_GIVEN


def build(language: str) -> TogetherTTSService:
    tts = TogetherTTSService(
        api_key=os.environ["TOGETHER_API_KEY"],
        url=os.getenv("TOGETHER_TTS_BASE_URL", "wss://api.together.ai/v1/audio/speech/websocket"),
        settings=TogetherTTSService.Settings(
            language=language,  # when: language
            voice=os.getenv("TOGETHER_VOICE_ID", NOT_GIVEN),
        ),
    )
    return tts
