# id: stt_ab
# label: Moonshine
# names: moonshine, moonshine_stt
# extras: moonshine
# license: MIT: moonshine-voice, models of Moonshine
# license: LicenseRef-Moonshine: models of Moonshine without streaming for other languages than English
# flags: local
# model: 460 MB, 0.3 cores
# languages: ar, de, en, es, fil, ja, ko, tl, uk, vi, zh
# env: MOONSHINE_MODEL optional model =small-streaming: model (142 MB), downloaded on first use
# env: MOONSHINE_VOICE_CACHE optional path library: folder of downloaded models
# download: download.moonshine.ai: the model
import os

from pipecat.services.moonshine.stt import MoonshineSTTService
from pipecat.utils.types import NOT_GIVEN


def build(language: str) -> MoonshineSTTService:
    stt = MoonshineSTTService(
        settings=MoonshineSTTService.Settings(
            model=os.getenv("MOONSHINE_MODEL", NOT_GIVEN),
            language=language,  # when: language
        ),
    )
    return stt
