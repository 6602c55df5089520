# id: stt_l
# label: ElevenLabs Realtime
# names: elevenlabs_realtime, elevenlabs_realtime_stt
# extras: elevenlabs
# keys: https://elevenlabs.io/app/settings/api-keys
# env: ELEVENLABS_API_KEY required secret: API key
import os

from pipecat.services.elevenlabs.stt import ElevenLabsRealtimeSTTService


def build() -> ElevenLabsRealtimeSTTService:
    stt = ElevenLabsRealtimeSTTService(api_key=os.environ["ELEVENLABS_API_KEY"])
    return stt
