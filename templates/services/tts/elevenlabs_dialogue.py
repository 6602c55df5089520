# id: tts_l
# label: ElevenLabs Dialogue (v3)
# names: elevenlabs_dialogue, elevenlabs_dialogue_tts
# extras: elevenlabs
# keys: https://elevenlabs.io/app/settings/api-keys
# env: ELEVENLABS_API_KEY required secret: API key
# env: ELEVENLABS_VOICE_ID required voice: voice id, from the voice library
import os

from pipecat.services.elevenlabs.dialogue.tts import ElevenLabsDialogueTTSService


def build() -> ElevenLabsDialogueTTSService:
    tts = ElevenLabsDialogueTTSService(
        api_key=os.environ["ELEVENLABS_API_KEY"],
        settings=ElevenLabsDialogueTTSService.Settings(voice=os.environ["ELEVENLABS_VOICE_ID"]),
    )
    return tts
