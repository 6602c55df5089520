# id: stt_o
# label: Gladia
# names: gladia, gladia_stt
# extras: gladia
# languages: af, am, ar, as, az, ba, be, bg, bn, bo, br, bs, ca, cs, cy, da, de, el, en, es, et, eu
# languages: fa, fi, fo, fr, gl, gu, ha, haw, he, hi, hr, ht, hu, hy, id, is, it, ja, jv, ka, kk, km
# languages: kn, ko, la, lb, ln, lo, lt, lv, mg, mi, mk, ml, mn, mr, ms, mt, ne, nl, nn, no, oc, pa
# languages: pl, ps, pt, ro, ru, sa, sd, si, sk, sl, sn, so, sq, sr, su, sv, sw, ta, te, tg, th, tk
# languages: tl, tr, tt, uk, ur, uz, vi, yi, yo, zh
# keys: https://app.gladia.io/
# env: GLADIA_API_KEY required secret: API key
# env: GLADIA_BASE_URL optional url =https://api.gladia.io/v2/live: address
# stand-in: gladia GLADIA_BASE_URL=http://{}/v2/live
# host: api.gladia.io
import os

from pipecat.services.gladia.config import LanguageConfig
from pipecat.services.gladia.stt import GladiaSTTService


def build(language: str) -> GladiaSTTService:
    stt = GladiaSTTService(
        api_key=os.environ["GLADIA_API_KEY"],
        url=os.getenv("GLADIA_BASE_URL", "https://api.gladia.io/v2/live"),
        settings=GladiaSTTService.Settings(  # when: language
            language_config=LanguageConfig(languages=[language.split("-")[0]]),  # when: language
        ),  # when: language
    )
    return stt
