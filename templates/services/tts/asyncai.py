# id: tts_c
# label: Async
# names: asyncai, asyncai_tts, async
# extras: asyncai
# languages: de, en, es, fr, it, pt
# keys: https://async.com/developer
# env: ASYNCAI_API_KEY required secret: API key
# env: ASYNCAI_BASE_URL optional url =wss://api.async.com/text_to_speech/websocket/ws: address
# env: ASYNCAI_VOICE_ID required voice: id, from the voice library
# stand-in: asyncai untimed ASYNCAI_BASE_URL=ws://{}/text_to_speech/websocket/ws
# host: api.async.com
import os

from pipecat.services.asyncai.tts import AsyncAITTSService


def build(language: str) -> AsyncAITTSService:
    tts = AsyncAITTSService(
        api_key=os.environ["ASYNCAI_API_KEY"],
        url=os.getenv("ASYNCAI_BASE_URL", "wss://api.async.com/text_to_speech/websocket/ws"),
        settings=AsyncAITTSService.Settings(
            language=language,  # when: language
            voice=os.environ["ASYNCAI_VOICE_ID"],
        ),
    )
    return tts
