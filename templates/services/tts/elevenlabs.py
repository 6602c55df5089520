# id: tts_b
# label: ElevenLabs
# names: elevenlabs, elevenlabs_tts
# extras: elevenlabs
# keys: https://elevenlabs.io/app/settings/api-keys
# env: ELEVENLABS_API_KEY required secret: API key
# env: ELEVENLABS_TTS_BASE_URL optional url =wss://api.elevenlabs.io: address
# env: ELEVENLABS_VOICE_ID required voice: voice id, from the voice library
# host: api.elevenlabs.io
import os

from pipecat.services.elevenlabs.tts import ElevenLabsTTSService


def build(if_set) -> ElevenLabsTTSService:
    tts = ElevenLabsTTSService(
        api_key=os.environ["ELEVENLABS_API_KEY"],
        **if_set(url="ELEVENLABS_TTS_BASE_URL"),
        settings=ElevenLabsTTSService.Settings(voice=os.environ["ELEVENLABS_VOICE_ID"]),
    )
    return tts
