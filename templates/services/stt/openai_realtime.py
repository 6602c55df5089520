# id: stt_w
# label: OpenAI Realtime
# names: openai_realtime, openai_realtime_stt
# extras: openai
# license: BSD-3-Clause: httpx
# languages: af, ar, az, be, bg, bs, ca, cs, cy, da, de, el, en, es, et, fa, fi, fr, gl, he, hi, hr
# languages: hu, hy, id, is, it, ja, kk, kn, ko, lt, lv, mi, mk, mr, ms, ne, nl, no, pl, pt, ro, ru
# languages: sk, sl, sr, sv, sw, ta, th, tl, tr, uk, ur, vi, zh
# keys: https://platform.openai.com/api-keys
# env: OPENAI_API_KEY required secret: API key
# env: OPENAI_REALTIME_BASE_URL optional url =wss://api.openai.com/v1/realtime: address
# stand-in: openai_realtime OPENAI_REALTIME_BASE_URL=ws://{}/v1/realtime
# host: api.openai.com
import os

from pipecat.services.openai.stt import OpenAIRealtimeSTTService


def build(language: str) -> OpenAIRealtimeSTTService:
    stt = OpenAIRealtimeSTTService(
        api_key=os.environ["OPENAI_API_KEY"],
        base_url=os.getenv("OPENAI_REALTIME_BASE_URL", "wss://api.openai.com/v1/realtime"),
        settings=OpenAIRealtimeSTTService.Settings(language=language),  # when: language
    )
    return stt
