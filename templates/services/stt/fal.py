# id: stt_m
# label: Fal (Wizper)
# names: fal, fal_stt, wizper
# extras: fal
# languages: af, am, ar, as, az, ba, be, bg, bn, bo, br, bs, ca, cs, cy, da, de, el, en, es, et, eu
# languages: fa, fi, fo, fr, gl, gu, ha, he, hi, hr, ht, hu, hy, id, is, it, ja, ka, kk, km, kn, ko
# languages: la, lb, ln, lo, lt, lv, mg, mi, mk, ml, mn, mr, ms, mt, my, ne, nl, nn, no, oc, pa, pl
# languages: ps, pt, ro, ru, sa, sd, si, sk, sl, sn, so, sq, sr, su, sv, sw, ta, te, tg, th, tk, tl
# languages: tr, tt, uk, ur, uz, vi, yi, yo, zh
# keys: https://fal.ai/dashboard/keys
# env: FAL_API_KEY required secret: API key
# host: fal.run
import os

import aiohttp
from pipecat.services.fal.stt import FalSTTService


def build(language: str, session: aiohttp.ClientSession) -> FalSTTService:
    stt = FalSTTService(
        api_key=os.environ["FAL_API_KEY"],
        aiohttp_session=session,
        settings=FalSTTService.Settings(language=language),  # when: language
    )
    return stt
