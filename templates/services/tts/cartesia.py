# id: tts_a
# label: Cartesia
# names: cartesia, cartesia_tts
# extras: cartesia
# languages: ar, bg, bn, cs, da, de, el, en, es, fi, fil, fr, gu, he, hi, hr, hu, id, it, ja, ka, kn
# languages: ko, ml, mr, ms, nb, nl, no, or, pa, pl, pt, ro, ru, sk, sv, ta, te, th, tl, tr, uk, ur
# languages: vi, zh
# keys: https://play.cartesia.ai/keys
# env: CARTESIA_API_KEY required secret: API key
# env: CARTESIA_TTS_BASE_URL optional url =wss://api.cartesia.ai/tts/websocket: address
# env: CARTESIA_VOICE_ID optional voice =86e30c1d-714b-4074-a1f2-1cb6b552fb49: see the voice library
# stand-in: cartesia CARTESIA_TTS_BASE_URL=ws://{}/tts/websocket
# host: api.cartesia.ai
import os

from pipecat.services.cartesia.tts import CartesiaTTSService


def build(language: str) -> CartesiaTTSService:
    tts = CartesiaTTSService(
        api_key=os.environ["CARTESIA_API_KEY"],
        url=os.getenv("CARTESIA_TTS_BASE_URL", "wss://api.cartesia.ai/tts/websocket"),
        settings=CartesiaTTSService.Settings(
            language=language,  # when: language
            voice=os.getenv("CARTESIA_VOICE_ID", "86e30c1d-714b-4074-a1f2-1cb6b552fb49"),
        ),
    )
    return tts
