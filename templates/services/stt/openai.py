# id: stt_b
# label: OpenAI
# names: openai, openai_stt, openai_whisper
# extras: openai
# license: BSD-3-Clause: httpx
# languages: af, ar, az, be, bg, bs, ca, cs, cy, da, de, el, en, es, et, fa, fi, fr, gl, he, hi, hr
# languages: hu, hy, id, is, it, ja, kk, kn, ko, lt, lv, mi, mk, mr, ms, ne, nl, no, pl, pt, ro, ru
# languages: sk, sl, sr, sv, sw, ta, th, tl, tr, uk, ur, vi, zh
# keys: https://platform.openai.com/api-keys
# env: OPENAI_API_KEY required secret unless OPENAI_STT_BASE_URL: API key
# env: OPENAI_STT_BASE_URL optional url else OPENAI_BASE_URL: address, for speech to text only
# env: OPENAI_BASE_URL optional url library =https://api.openai.com/v1: address of a compatible API
# stand-in: openai OPENAI_STT_BASE_URL=http://{}/v1
# host: api.openai.com
import os

from pipecat.services.openai.stt import OpenAISTTService


def build(language: str) -> OpenAISTTService:
    stt = OpenAISTTService(
        api_key=os.getenv("OPENAI_API_KEY", "none"),
        base_url=os.getenv("OPENAI_STT_BASE_URL"),
        settings=OpenAISTTService.Settings(  # when: language
            language=language.split("-")[0],  # when: language
        ),  # when: language
    )
    return stt
