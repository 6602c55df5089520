# id: stt_aa
# label: Speechmatics
# names: speechmatics, speechmatics_stt
# extras: speechmatics
# license: MIT: speechmatics-agent-stt
# languages: ar, ba, be, bg, bn, ca, cmn, cs, cy, da, de, el, en, eo, es, et, eu, fa, fi, fil, fr
# languages: ga, gl, he, hi, hr, hu, id, it, ja, ko, lt, lv, mn, mr, ms, mt, nl, no, pl, pt, ro, ru
# languages: sk, sl, sv, sw, ta, th, tl, tr, ug, uk, ur, vi, yue
# keys: https://portal.speechmatics.com/settings/api-keys
# env: SPEECHMATICS_API_KEY required secret: API key
# env: SPEECHMATICS_RT_URL optional url library =wss://eu2.rt.speechmatics.com/v2/agent: address
# host: eu2.rt.speechmatics.com
# region: with the endpoint of EU1 in SPEECHMATICS_RT_URL https://docs.speechmatics.com/administration/regions
import os

from pipecat.services.speechmatics.stt import SpeechmaticsSTTService


def build(language: str) -> SpeechmaticsSTTService:
    stt = SpeechmaticsSTTService(
        api_key=os.environ["SPEECHMATICS_API_KEY"],
        settings=SpeechmaticsSTTService.Settings(language=language),  # when: language
    )
    return stt
