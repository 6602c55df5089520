# id: stt_l
# label: ElevenLabs Realtime
# names: elevenlabs_realtime, elevenlabs_realtime_stt
# extras: elevenlabs
# languages: af, am, ar, as, ast, az, be, bg, bn, bs, ca, ceb, cs, cy, da, de, el, en, es, et, fa
# languages: ff, fi, fil, fr, ga, gl, gu, ha, he, hi, hr, hu, hy, id, ig, is, it, ja, jv, ka, kea
# languages: kk, km, kn, ko, ku, ky, lb, lg, ln, lo, lt, luo, lv, mi, mk, ml, mn, mr, ms, mt, my, ne
# languages: nl, no, nso, ny, oc, or, pa, pl, ps, pt, ro, ru, sd, sk, sl, sn, so, sr, sv, sw, ta, te
# languages: tg, th, tr, uk, umb, ur, uz, vi, wo, yue, zh, zu
# keys: https://elevenlabs.io/app/settings/api-keys
# env: ELEVENLABS_API_KEY required secret: API key
# env: ELEVENLABS_REALTIME_BASE_URL optional url =api.elevenlabs.io: host
# stand-in: elevenlabs_realtime tls ELEVENLABS_REALTIME_BASE_URL={}
# host: api.elevenlabs.io
import os

from pipecat.services.elevenlabs.stt import ElevenLabsRealtimeSTTService


def build(language: str) -> ElevenLabsRealtimeSTTService:
    stt = ElevenLabsRealtimeSTTService(
        api_key=os.environ["ELEVENLABS_API_KEY"],
        base_url=os.getenv("ELEVENLABS_REALTIME_BASE_URL", "api.elevenlabs.io"),
        settings=ElevenLabsRealtimeSTTService.Settings(language=language),  # when: language
    )
    return stt
