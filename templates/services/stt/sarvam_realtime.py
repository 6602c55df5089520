# id: stt_ah
# label: Sarvam Realtime
# names: sarvam_realtime, sarvam_realtime_stt
# extras: sarvam
# keys: https://dashboard.sarvam.ai/
# env: SARVAM_API_KEY required secret: API key
import os

from pipecat.services.sarvam.stt import SarvamRealtimeSTTService


def build() -> SarvamRealtimeSTTService:
    stt = SarvamRealtimeSTTService(api_key=os.environ["SARVAM_API_KEY"])
    return stt
