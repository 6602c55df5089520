# id: stt_ab
# label: Moonshine
# names: moonshine, moonshine_stt
# extras: moonshine
# flags: local
# env: MOONSHINE_MODEL optional model =small-streaming: model (142 MB), downloaded on first use
# env: MOONSHINE_VOICE_CACHE optional path: folder of downloaded models
# host: download.moonshine.ai: the model, at the first start
import os

from pipecat.services.moonshine.stt import MoonshineSTTService
from pipecat.utils.types import NOT_GIVEN


def build() -> MoonshineSTTService:
    if not os.getenv("MOONSHINE_VOICE_CACHE"):  # blank, it would be the current folder
        os.environ.pop("MOONSHINE_VOICE_CACHE", None)
    stt = MoonshineSTTService(
        settings=MoonshineSTTService.Settings(model=os.getenv("MOONSHINE_MODEL") or NOT_GIVEN)
    )
    return stt
