# id: stt_a
# label: Deepgram
# names: deepgram, deepgram_stt
# extras: deepgram
# license: MIT: deepgram-sdk
# languages: af, ar, be, bg, bn, bs, ca, cs, da, de, de-CH, el, en, en-AU, en-GB, en-IN, en-NZ
# languages: en-US, es, es-419, et, fa, fi, fr, fr-CA, gu, he, hi, hr, hu, hy, id, it, ja, ka, kn
# languages: ko, ko-KR, lt, lv, mk, mr, ms, ne, nl, nl-BE, no, pa, pl, pt, pt-BR, pt-PT, ro, ru, sk
# languages: sl, sr, sv, ta, te, th, tl, tr, uk, ur, vi, zh, zh-CN, zh-HK, zh-TW
# keys: https://console.deepgram.com/
# env: DEEPGRAM_API_KEY required secret unless DEEPGRAM_STT_BASE_URL: API key
# env: DEEPGRAM_STT_BASE_URL optional url: address, such as ws://localhost:8080
# stand-in: deepgram DEEPGRAM_STT_BASE_URL=ws://{}
# host: api.deepgram.com
# region: with DEEPGRAM_STT_BASE_URL=wss://api.eu.deepgram.com https://developers.deepgram.com/reference/regional-endpoints
import os

from pipecat.services.deepgram.stt import DeepgramSTTService


def build(language: str) -> DeepgramSTTService:
    stt = DeepgramSTTService(
        api_key=os.getenv("DEEPGRAM_API_KEY", "none"),
        base_url=os.getenv("DEEPGRAM_STT_BASE_URL", ""),
        settings=DeepgramSTTService.Settings(language=language),  # when: language
    )
    return stt
