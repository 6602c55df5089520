# id: tts_aa
# label: Piper
# names: piper, piper_tts
# extras: piper
# flags: local
# env: PIPER_VOICE_ID required voice: voice, such as en_US-ryan-high, downloaded on first use
import os

from pipecat.services.piper.tts import PiperTTSService


def build() -> PiperTTSService:
    tts = PiperTTSService(
        sample_rate=22050,  # the rate of medium and high quality voices
        settings=PiperTTSService.Settings(voice=os.environ["PIPER_VOICE_ID"]),
    )
    return tts
