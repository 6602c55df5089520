# id: tts_c
# label: Async
# names: asyncai, asyncai_tts, async
# extras: asyncai
# keys: https://async.com/developer
# env: ASYNCAI_API_KEY required secret: API key
# env: ASYNCAI_BASE_URL optional url =wss://api.async.com/text_to_speech/websocket/ws: address
# env: ASYNCAI_VOICE_ID required voice: voice id, from the voice library
# host: api.async.com
import os

from pipecat.services.asyncai.tts import AsyncAITTSService


def build(if_set) -> AsyncAITTSService:
    tts = AsyncAITTSService(
        api_key=os.environ["ASYNCAI_API_KEY"],
        **if_set(url="ASYNCAI_BASE_URL"),
        settings=AsyncAITTSService.Settings(voice=os.environ["ASYNCAI_VOICE_ID"]),
    )
    return tts
