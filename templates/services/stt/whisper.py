# id: stt_ac
# label: Whisper (Local)
# names: whisper, whisper_stt, whisper_local
# extras: whisper
# license: MIT: faster-whisper, models of Whisper
# flags: local
# model: 1700 MB, 1.4 cores
# languages: ar, bn, cs, da, de, el, en, es, fa, fi, fr, hi, hu, id, it, ja, ko, nl, pl, pt, ro, ru
# languages: sk, sv, th, tr, uk, ur, vi, zh
# env: WHISPER_MODEL optional model =Systran/faster-distil-whisper-medium.en: id or folder (small: 484 MB)
# download: huggingface.co: the model
# host: *.hf.co: its files
import os

from pipecat.services.whisper.stt import WhisperSTTService
from pipecat.utils.types import NOT_GIVEN


def build(language: str) -> WhisperSTTService:
    os.environ.setdefault("WHISPER_MODEL", "small")  # the default is English only  # when: language
    stt = WhisperSTTService(
        settings=WhisperSTTService.Settings(
            model=os.getenv("WHISPER_MODEL", NOT_GIVEN),
            language=language,  # when: language
        ),
    )
    return stt
