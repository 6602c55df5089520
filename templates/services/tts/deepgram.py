# id: tts_h
# label: Deepgram
# names: deepgram, deepgram_tts
# extras: deepgram
# license: MIT: deepgram-sdk
# languages: voice
# voices: de aura-2-viktoria-de, es aura-2-celeste-es, fr aura-2-agathe-fr, it aura-2-livia-it
# voices: ja aura-2-izanami-ja, nl aura-2-rhea-nl
# keys: https://console.deepgram.com/
# env: DEEPGRAM_API_KEY required secret unless DEEPGRAM_TTS_BASE_URL: API key
# env: DEEPGRAM_TTS_BASE_URL optional url =wss://api.deepgram.com: address
# env: DEEPGRAM_VOICE_ID optional voice =aura-2-helena-en: Aura voice id, also read by Deepgram Flux
# stand-in: deepgram untimed DEEPGRAM_TTS_BASE_URL=ws://{}
# host: api.deepgram.com
# region: with DEEPGRAM_TTS_BASE_URL=wss://api.eu.deepgram.com https://developers.deepgram.com/reference/regional-endpoints
import os

from pipecat.services.deepgram.tts import DeepgramTTSService
from pipecat.utils.types import NOT_GIVEN


def build() -> DeepgramTTSService:
    tts = DeepgramTTSService(
        api_key=os.getenv("DEEPGRAM_API_KEY", "none"),
        base_url=os.getenv("DEEPGRAM_TTS_BASE_URL", "wss://api.deepgram.com"),
        settings=DeepgramTTSService.Settings(
            voice=os.getenv("DEEPGRAM_VOICE_ID", NOT_GIVEN),
        ),
    )
    return tts
