# id: tts_t
# label: Kokoro
# names: kokoro, kokoro_tts
# extras: kokoro
# license: MIT: kokoro-onnx
# license: Apache-2.0: requests, the model Kokoro
# license: GPL-3.0-or-later: espeakng-loader, phonemizer
# flags: local
# model: 740 MB, 1.1 cores
# languages: en, es, fr, hi, it, ja, pt, zh
# voices: es ef_dora, fr ff_siwis, hi hf_alpha, it if_sara, ja jf_alpha, pt pf_dora, zh zf_xiaobei
# env: KOKORO_MODEL_PATH optional path: kokoro-v1.0.onnx (310 MB); if unset, downloaded on first use
# env: KOKORO_VOICES_PATH optional path: voices-v1.0.bin (28 MB); if unset, downloaded on first use
# env: KOKORO_VOICE_ID optional voice =af_heart: voice name
# download: github.com: the model
# host: *.githubusercontent.com: its files
import os

from pipecat.services.kokoro.tts import KokoroTTSService


def build(language: str) -> KokoroTTSService:
    tts = KokoroTTSService(
        model_path=os.getenv("KOKORO_MODEL_PATH"),
        voices_path=os.getenv("KOKORO_VOICES_PATH"),
        sample_rate=24000,  # the model's rate
        stop_frame_timeout_s=30.0,  # after 3 s, a slow processor's sentence would be a failure
        settings=KokoroTTSService.Settings(
            language=language,  # when: language
            voice=os.getenv("KOKORO_VOICE_ID", "af_heart"),
        ),
    )
    return tts
