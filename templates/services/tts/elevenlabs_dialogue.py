# id: tts_l
# label: ElevenLabs Dialogue (v3)
# names: elevenlabs_dialogue, elevenlabs_dialogue_tts
# extras: elevenlabs
# keys: https://elevenlabs.io/app/settings/api-keys
# env: ELEVENLABS_API_KEY required secret: API key
# env: ELEVENLABS_DIALOGUE_BASE_URL optional url =wss://api.elevenlabs.io: address
# env: ELEVENLABS_VOICE_ID required voice: voice id, from the voice library
# host: api.elevenlabs.io
import os

from pipecat.services.elevenlabs.dialogue.tts import ElevenLabsDialogueTTSService


def build(if_set) -> ElevenLabsDialogueTTSService:
    tts = ElevenLabsDialogueTTSService(
        api_key=os.environ["ELEVENLABS_API_KEY"],
        **if_set(url="ELEVENLABS_DIALOGUE_BASE_URL"),
        settings=ElevenLabsDialogueTTSService.Settings(voice=os.environ["ELEVENLABS_VOICE_ID"]),
    )
    return tts
