# id: tts_a
# label: Cartesia
# names: cartesia, cartesia_tts
# extras: cartesia
# languages: ar, bg, bn, cs, da, de, el, en, es, fi, fil, fr, gu, he, hi, hr, hu, id, it, ja, ka, kn
# languages: ko, ml, mr, ms, nb, nl, no, or, pa, pl, pt, ro, ru, sk, sv, ta, te, th, tl, tr, uk, ur
# languages: vi, zh
# voices: de 3f4ade23-6eb4-4279-ab05-6a144947c4d5, es 5c5ad5e7-1020-476b-8b91-fdcbe9cc313c
# voices: fr a249eaff-1e96-4d2c-b23b-12efa4f66f41, hi c1abd502-9231-4558-a054-10ac950c356d
# voices: it 0e21713a-5e9a-428a-bed4-90d410b87f13, ja 2b568345-1d48-4047-b25f-7baccf842eb0
# voices: ko 29e5f8b4-b953-4160-848f-40fae182235b, nl 4aa74047-d005-4463-ba2e-a0d9b261fb87
# voices: pl 575a5d29-1fdc-4d4e-9afa-5a9a71759864, pt 700d1ee3-a641-4018-ba6e-899dcadc9e2b
# voices: ru 779673f3-895f-4935-b6b5-b031dc78b319, sv f852eb8d-a177-48cd-bf63-7e4dcab61a36
# voices: tr 5a31e4fb-f823-4359-aa91-82c0ae9a991c, zh e90c6678-f0d3-4767-9883-5d0ecf5894a8
# keys: https://play.cartesia.ai/keys
# env: CARTESIA_API_KEY required secret: API key
# env: CARTESIA_TTS_BASE_URL optional url =wss://api.cartesia.ai/tts/websocket: address
# env: CARTESIA_VOICE_ID optional voice =86e30c1d-714b-4074-a1f2-1cb6b552fb49: see the voice library
# stand-in: cartesia CARTESIA_TTS_BASE_URL=ws://{}/tts/websocket
# host: api.cartesia.ai
# region: for enterprises, on request https://docs.cartesia.ai/enterprise/regional-endpoints
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
