# id: stt_r
# label: Groq (Whisper)
# names: groq, groq_stt
# extras: groq
# license: Apache-2.0: groq
# languages: af, ar, az, be, bg, bs, ca, cs, cy, da, de, el, en, es, et, fa, fi, fr, gl, he, hi, hr
# languages: hu, hy, id, is, it, ja, kk, kn, ko, lt, lv, mi, mk, mr, ms, ne, nl, no, pl, pt, ro, ru
# languages: sk, sl, sr, sv, sw, ta, th, tl, tr, uk, ur, vi, zh
# keys: https://console.groq.com/keys
# env: GROQ_API_KEY required secret: API key
# env: GROQ_STT_BASE_URL optional url =https://api.groq.com/openai/v1: address
# stand-in: openai GROQ_STT_BASE_URL=http://{}/openai/v1
# host: api.groq.com
import os

from pipecat.services.groq.stt import GroqSTTService


def build(language: str) -> GroqSTTService:
    stt = GroqSTTService(
        api_key=os.environ["GROQ_API_KEY"],
        base_url=os.getenv("GROQ_STT_BASE_URL", "https://api.groq.com/openai/v1"),
        settings=GroqSTTService.Settings(language=language),  # when: language
    )
    return stt
