# id: tts_ab
# label: Pocket TTS
# names: pocket_tts, pockettts_tts, pockettts
# extras: pocket-tts
# license: MIT: pocket-tts
# license: CC-BY-4.0: the model Pocket TTS
# license: NOASSERTION: voices of Pocket TTS (each has its own)
# flags: local
# model: 700 MB, 1 cores, each session
# languages: de, en, es, fr, it, pt
# env: POCKET_TTS_VOICE_ID optional voice =alba: voice name or a .wav file to clone
# download: huggingface.co: the model
# host: *.hf.co: its files
import os

from pipecat.services.pocket_tts.tts import PocketTTSService
from pipecat.utils.types import NOT_GIVEN


def build(language: str) -> PocketTTSService:
    tts = PocketTTSService(
        sample_rate=24000,  # the model's rate
        settings=PocketTTSService.Settings(
            language=language,  # when: language
            voice=os.getenv("POCKET_TTS_VOICE_ID", NOT_GIVEN),
        ),
    )
    return tts
