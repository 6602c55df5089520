# id: stt_k
# label: ElevenLabs
# names: elevenlabs, elevenlabs_stt
# extras: elevenlabs
# languages: af, am, ar, as, ast, az, be, bg, bn, bs, ca, ceb, cs, cy, da, de, el, en, es, et, fa
# languages: ff, fi, fil, fr, ga, gl, gu, ha, he, hi, hr, hu, hy, id, ig, is, it, ja, jv, ka, kea
# languages: kk, km, kn, ko, ku, ky, lb, lg, ln, lo, lt, luo, lv, mi, mk, ml, mn, mr, ms, mt, my, ne
# languages: nl, no, nso, ny, oc, or, pa, pl, ps, pt, ro, ru, sd, sk, sl, sn, so, sr, sv, sw, ta, te
# languages: tg, th, tr, uk, umb, ur, uz, vi, wo, yue, zh, zu
# keys: https://elevenlabs.io/app/settings/api-keys
# env: ELEVENLABS_API_KEY required secret: API key
# env: ELEVENLABS_STT_BASE_URL optional url =https://api.elevenlabs.io: address
# stand-in: elevenlabs ELEVENLABS_STT_BASE_URL=http://{}
# host: api.elevenlabs.io
import os

import aiohttp
from pipecat.services.elevenlabs.stt import ElevenLabsSTTService


def build(language: str, session: aiohttp.ClientSession) -> ElevenLabsSTTService:
    stt = ElevenLabsSTTService(
        api_key=os.environ["ELEVENLABS_API_KEY"],
        base_url=os.getenv("ELEVENLABS_STT_BASE_URL", "https://api.elevenlabs.io"),
        aiohttp_session=session,
        settings=ElevenLabsSTTService.Settings(language=language),  # when: language
    )
    return stt
