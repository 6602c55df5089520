# id: tts_t
# label: Kokoro
# names: kokoro, kokoro_tts
# extras: kokoro
# flags: local
# env: KOKORO_MODEL_PATH optional path: kokoro-v1.0.onnx (310 MB), else downloaded on first use
# env: KOKORO_VOICES_PATH optional path: voices-v1.0.bin (28 MB), else downloaded on first use
# env: KOKORO_VOICE_ID optional voice =af_heart: voice name
# host: github.com: the model, at the first start
# host: *.githubusercontent.com: its files
import os

from pipecat.services.kokoro.tts import KokoroTTSService


def build() -> KokoroTTSService:
    tts = KokoroTTSService(
        model_path=os.getenv("KOKORO_MODEL_PATH") or None,
        voices_path=os.getenv("KOKORO_VOICES_PATH") or None,
        sample_rate=24000,  # the model's rate
        settings=KokoroTTSService.Settings(voice=os.getenv("KOKORO_VOICE_ID") or "af_heart"),
    )
    return tts
