# id: stt_z
# label: Soniox
# names: soniox, soniox_stt
# extras: soniox
# languages: af, ar, az, be, bg, bn, bs, ca, cs, cy, da, de, el, en, es, et, eu, fa, fi, fr, gl, gu
# languages: he, hi, hr, hu, id, it, ja, kk, kn, ko, lt, lv, mk, ml, mr, ms, nb, nl, no, pa, pl, pt
# languages: ro, ru, sk, sl, sq, sr, sv, sw, ta, te, th, tl, tr, uk, ur, vi, zh
# keys: https://console.soniox.com/
# env: SONIOX_API_KEY required secret: API key
# env: SONIOX_STT_BASE_URL optional url =wss://stt-rt.soniox.com/transcribe-websocket: address
# stand-in: soniox SONIOX_STT_BASE_URL=ws://{}/transcribe-websocket
# host: stt-rt.soniox.com
# region: in projects with that region, on request https://soniox.com/docs/stt/data-residency
import os

from pipecat.services.soniox.stt import SonioxSTTService


def build(language: str) -> SonioxSTTService:
    stt = SonioxSTTService(
        api_key=os.environ["SONIOX_API_KEY"],
        url=os.getenv("SONIOX_STT_BASE_URL", "wss://stt-rt.soniox.com/transcribe-websocket"),
        settings=SonioxSTTService.Settings(language=language),  # when: language
    )
    return stt
