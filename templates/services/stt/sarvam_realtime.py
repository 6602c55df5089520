# id: stt_ah
# label: Sarvam Realtime
# names: sarvam_realtime, sarvam_realtime_stt
# extras: sarvam
# keys: https://dashboard.sarvam.ai/
# env: SARVAM_API_KEY required secret: API key
# env: SARVAM_REALTIME_BASE_URL optional url =wss://api.sarvam.ai/speech-to-text-realtime/ws: URL
# host: api.sarvam.ai
import os

from pipecat.services.sarvam.stt import SarvamRealtimeSTTService


def build(if_set) -> SarvamRealtimeSTTService:
    stt = SarvamRealtimeSTTService(
        api_key=os.environ["SARVAM_API_KEY"],
        **if_set(base_url="SARVAM_REALTIME_BASE_URL"),
    )
    return stt
