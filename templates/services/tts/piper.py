# id: tts_aa
# label: Piper
# names: piper, piper_tts
# extras: piper
# flags: local
# model: 1200 MB, 0.35 cores
# languages: voice
# env: PIPER_VOICES_DIR optional path: folder of VOICE.onnx (63 to 121 MB) and VOICE.onnx.json
# env: PIPER_VOICE_ID required voice: voice, such as en_US-ryan-high, downloaded if missing
# host: huggingface.co: the voice, at the first start
# host: *.hf.co: its files
import os
from pathlib import Path

from pipecat.services.piper.tts import PiperTTSService


def build() -> PiperTTSService:
    tts = PiperTTSService(
        download_dir=Path(folder) if (folder := os.getenv("PIPER_VOICES_DIR")) else None,
        sample_rate=22050,  # the rate of medium and high quality voices
        settings=PiperTTSService.Settings(voice=os.environ["PIPER_VOICE_ID"]),
    )
    return tts
