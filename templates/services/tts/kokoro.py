# id: tts_t
# label: Kokoro
# names: kokoro, kokoro_tts
# extras: kokoro
# flags: local
# env: KOKORO_VOICE_ID optional voice =af_heart: voice name
import os

from pipecat.services.kokoro.tts import KokoroTTSService


def build() -> KokoroTTSService:
    tts = KokoroTTSService(
        sample_rate=24000,  # the model's rate
        settings=KokoroTTSService.Settings(voice=os.getenv("KOKORO_VOICE_ID") or "af_heart"),
    )
    return tts
