# id: stt_f
# label: Cartesia
# names: cartesia, cartesia_stt
# extras: cartesia
# languages: af, am, ar, as, az, ba, be, bg, bn, bo, br, bs, ca, cs, cy, da, de, el, en, es, et, eu
# languages: fa, fi, fo, fr, gl, gu, ha, haw, he, hi, hr, ht, hu, hy, id, is, it, ja, ka, kk, km, kn
# languages: ko, la, lb, ln, lo, lt, lv, mg, mi, mk, ml, mn, mr, ms, mt, my, ne, nl, nn, no, oc, pa
# languages: pl, ps, pt, ro, ru, sa, sd, si, sk, sl, sn, so, sq, sr, su, sv, sw, ta, te, tg, th, tk
# languages: tl, tr, tt, uk, ur, uz, vi, yi, yo, yue, zh
# keys: https://play.cartesia.ai/keys
# env: CARTESIA_API_KEY required secret: API key
# env: CARTESIA_STT_BASE_URL optional url: address, such as wss://api.cartesia.ai
# stand-in: cartesia CARTESIA_STT_BASE_URL=ws://{}
# host: api.cartesia.ai
# region: for enterprises, on request https://docs.cartesia.ai/enterprise/regional-endpoints
import os

from pipecat.services.cartesia.stt import CartesiaSTTService


def build(language: str) -> CartesiaSTTService:
    stt = CartesiaSTTService(
        api_key=os.environ["CARTESIA_API_KEY"],
        base_url=os.getenv("CARTESIA_STT_BASE_URL", ""),
        settings=CartesiaSTTService.Settings(language=language.split("-")[0]),  # when: language
    )
    return stt
