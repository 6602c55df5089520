# id: tts_a
# label: Cartesia
# names: cartesia, cartesia_tts
# extras: cartesia
# keys: https://play.cartesia.ai/keys
# env: CARTESIA_API_KEY required secret: API key
# env: CARTESIA_TTS_BASE_URL optional url =wss://api.cartesia.ai/tts/websocket: address
# env: CARTESIA_VOICE_ID optional voice =86e30c1d-714b-4074-a1f2-1cb6b552fb49: see the voice library
# host: api.cartesia.ai
import os

from pipecat.services.cartesia.tts import CartesiaTTSService


def build(if_set) -> CartesiaTTSService:
    tts = CartesiaTTSService(
        api_key=os.environ["CARTESIA_API_KEY"],
        **if_set(url="CARTESIA_TTS_BASE_URL"),
        settings=CartesiaTTSService.Settings(
            voice=os.getenv("CARTESIA_VOICE_ID") or "86e30c1d-714b-4074-a1f2-1cb6b552fb49"
        ),
    )
    return tts
