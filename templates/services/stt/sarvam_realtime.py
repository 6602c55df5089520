# id: stt_ah
# label: Sarvam Realtime
# names: sarvam_realtime, sarvam_realtime_stt
# turns: Settings(silence_duration_ms=1000)
# extras: sarvam
# license: NOASSERTION: sarvamai
# languages: as, bn, brx, doi, en, en-IN, gu, hi, kn, kok, ks, mai, ml, mni, mr, ne, or, pa, sa, sat
# languages: sd, ta, te, ur
# keys: https://dashboard.sarvam.ai/
# env: SARVAM_API_KEY required secret: API key
# env: SARVAM_REALTIME_BASE_URL optional url =wss://api.sarvam.ai/speech-to-text-realtime/ws: URL
# host: api.sarvam.ai
import os

from pipecat.services.sarvam.stt import SarvamRealtimeSTTService


def build(language: str) -> SarvamRealtimeSTTService:
    stt = SarvamRealtimeSTTService(
        api_key=os.environ["SARVAM_API_KEY"],
        base_url=os.getenv(
            "SARVAM_REALTIME_BASE_URL", "wss://api.sarvam.ai/speech-to-text-realtime/ws"
        ),
        settings=SarvamRealtimeSTTService.Settings(language=language),  # when: language
    )
    return stt
