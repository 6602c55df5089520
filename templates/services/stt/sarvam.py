# id: stt_x
# label: Sarvam
# names: sarvam, sarvam_stt
# extras: sarvam
# keys: https://dashboard.sarvam.ai/
# env: SARVAM_API_KEY required secret: API key
# host: api.sarvam.ai
import os

from pipecat.services.sarvam.stt import SarvamSTTService


def build() -> SarvamSTTService:
    stt = SarvamSTTService(api_key=os.environ["SARVAM_API_KEY"])
    return stt
