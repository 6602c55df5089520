# id: stt_ac
# label: Whisper (Local)
# names: whisper, whisper_stt, whisper_local
# extras: whisper
# flags: local
# env: WHISPER_MODEL optional model =Systran/faster-distil-whisper-medium.en: id or folder (792 MB)
# host: huggingface.co: the model, at the first start
# host: *.hf.co: its files
import os

from pipecat.services.whisper.stt import WhisperSTTService
from pipecat.utils.types import NOT_GIVEN


def build() -> WhisperSTTService:
    stt = WhisperSTTService(
        settings=WhisperSTTService.Settings(model=os.getenv("WHISPER_MODEL") or NOT_GIVEN)
    )
    return stt
