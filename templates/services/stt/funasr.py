# id: stt_ag
# label: FunASR
# names: funasr, funasr_stt
# extras: funasr
# pip: torch>=2.11,<2.12, torchaudio>=2.11,<2.11.1
# license: MIT: funasr
# license: BSD-3-Clause: torch
# license: BSD-2-Clause: torchaudio
# license: LicenseRef-FunASR: models of FunASR
# flags: local
# model: 1300 MB, 0.3 cores
# languages: en, ja, ko, yue, zh
# env: FUNASR_MODEL optional model =iic/SenseVoiceSmall: model id (936 MB), or the folder of one
# download: modelscope.cn: the model
# host: *.modelscope.cn: its files
import os

from pipecat.services.funasr.stt import FunASRSTTService
from pipecat.utils.types import NOT_GIVEN


def build(language: str) -> FunASRSTTService:
    stt = FunASRSTTService(
        settings=FunASRSTTService.Settings(
            model=os.getenv("FUNASR_MODEL", NOT_GIVEN),
            language=language,  # when: language
        ),
    )
    return stt
