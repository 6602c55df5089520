# id: tts_m
# label: Fish
# names: fish, fish_tts, fish_audio
# extras: fish
# license: Apache-2.0 OR MIT: ormsgpack
# languages: auto
# keys: https://fish.audio/app/api-keys/
# env: FISH_API_KEY required secret: API key
# env: FISH_VOICE_ID required voice: voice model id, from the voice library
# host: api.fish.audio
import os

from pipecat.services.fish.tts import FishAudioTTSService


def build() -> FishAudioTTSService:
    tts = FishAudioTTSService(
        api_key=os.environ["FISH_API_KEY"],
        settings=FishAudioTTSService.Settings(voice=os.environ["FISH_VOICE_ID"]),
    )
    return tts
