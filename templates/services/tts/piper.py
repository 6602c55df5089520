# id: tts_aa
# label: Piper
# names: piper, piper_tts
# extras: piper
# license: GPL-3.0-or-later: piper-tts
# license: Apache-2.0: requests
# license: NOASSERTION: voices of Piper (each has its own)
# flags: local
# model: 1200 MB, 0.35 cores
# languages: voice
# env: PIPER_VOICES_DIR optional path: folder of VOICE.onnx (63 to 121 MB) and VOICE.onnx.json
# voices: cs cs_CZ-jirka-medium, da da_DK-talesyntese-medium, de de_DE-thorsten-medium
# voices: es es_ES-davefx-medium, fr fr_FR-siwis-medium, it it_IT-paola-medium, nl nl_NL-mls-medium
# voices: no no_NO-talesyntese-medium, pl pl_PL-gosia-medium, pt pt_BR-faber-medium
# voices: ru ru_RU-irina-medium, sv sv_SE-nst-medium, zh zh_CN-huayan-medium
# env: PIPER_VOICE_ID optional voice =en_US-kristin-medium: voice, downloaded if missing
# download: huggingface.co: the voice
# host: *.hf.co: its files
import os
from pathlib import Path

from pipecat.services.piper.tts import PiperTTSService


def build() -> PiperTTSService:
    tts = PiperTTSService(
        download_dir=Path(folder) if (folder := os.getenv("PIPER_VOICES_DIR")) else None,
        sample_rate=22050,  # the rate of medium and high quality voices
        settings=PiperTTSService.Settings(
            voice=os.getenv("PIPER_VOICE_ID", "en_US-kristin-medium"),
        ),
    )
    return tts
