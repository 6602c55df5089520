# id: stt_x
# label: Sarvam
# names: sarvam, sarvam_stt
# extras: sarvam
# license: NOASSERTION: sarvamai
# languages: as, bn, brx, doi, en, en-IN, gu, hi, kn, kok, ks, mai, ml, mni, mr, ne, or, pa, sa, sat
# languages: sd, ta, te, ur
# keys: https://dashboard.sarvam.ai/
# env: SARVAM_API_KEY required secret: API key
# host: api.sarvam.ai
import os

from pipecat.services.sarvam.stt import SarvamSTTService


def build(language: str) -> SarvamSTTService:
    stt = SarvamSTTService(
        api_key=os.environ["SARVAM_API_KEY"],
        settings=SarvamSTTService.Settings(language=language),  # when: language
    )
    return stt
