# id: stt_l
# label: ElevenLabs Realtime
# names: elevenlabs_realtime, elevenlabs_realtime_stt
# extras: elevenlabs
# keys: https://elevenlabs.io/app/settings/api-keys
# env: ELEVENLABS_API_KEY required secret: API key
# env: ELEVENLABS_REALTIME_BASE_URL optional url =api.elevenlabs.io: host
# host: api.elevenlabs.io
import os

from pipecat.services.elevenlabs.stt import ElevenLabsRealtimeSTTService


def build(if_set) -> ElevenLabsRealtimeSTTService:
    stt = ElevenLabsRealtimeSTTService(
        api_key=os.environ["ELEVENLABS_API_KEY"],
        **if_set(base_url="ELEVENLABS_REALTIME_BASE_URL"),
    )
    return stt
