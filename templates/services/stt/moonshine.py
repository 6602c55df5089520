# id: stt_ab
# label: Moonshine
# names: moonshine, moonshine_stt
# extras: moonshine
# flags: local
# env: MOONSHINE_MODEL optional model =small-streaming: model architecture, downloaded on first use
import os

from pipecat.services.moonshine.stt import MoonshineSTTService
from pipecat.utils.types import NOT_GIVEN


def build() -> MoonshineSTTService:
    stt = MoonshineSTTService(
        settings=MoonshineSTTService.Settings(model=os.getenv("MOONSHINE_MODEL") or NOT_GIVEN)
    )
    return stt
